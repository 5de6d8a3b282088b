//! Each defect on its own, on a world that is otherwise sound.
