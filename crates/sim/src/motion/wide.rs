//! The widest vector instructions the processor has, picked when the program runs.
//!
//! The algorithms are plain loops over lanes, marked to be inlined. Inlined into a function
//! that is compiled for wider registers, they become wider instructions; the arithmetic, and
//! so every bit, stays the same, because no instruction here fuses two operations.

/// What the processor can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// What every processor of its kind has: two numbers at a time.
    Least,
    /// Four at a time.
    Avx2,
    /// Eight at a time.
    Avx512,
}

impl Width {
    /// Of this processor.
    pub fn here() -> Width {
        #[cfg(target_arch = "x86_64")]
        {
            if std::is_x86_feature_detected!("avx512f")
                && std::is_x86_feature_detected!("avx512dq")
                && std::is_x86_feature_detected!("avx512vl")
            {
                return Width::Avx512;
            }
            if std::is_x86_feature_detected!("avx2") {
                return Width::Avx2;
            }
        }
        Width::Least
    }

    /// Runs a kernel compiled for this width, which must not be more than [`Width::here`].
    #[inline(always)]
    pub fn run<R>(self, kernel: impl FnOnce() -> R) -> R {
        match self {
            Width::Least => kernel(),
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code, reason = "calls into wider instructions")]
            // SAFETY: a width comes from `here`, which asked the processor.
            Width::Avx2 => unsafe { with_avx2(kernel) },
            #[cfg(target_arch = "x86_64")]
            #[allow(unsafe_code, reason = "calls into wider instructions")]
            // SAFETY: a width comes from `here`, which asked the processor.
            Width::Avx512 => unsafe { with_avx512(kernel) },
            #[cfg(not(target_arch = "x86_64"))]
            Width::Avx2 | Width::Avx512 => kernel(),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<R>(kernel: impl FnOnce() -> R) -> R {
    kernel()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn with_avx512<R>(kernel: impl FnOnce() -> R) -> R {
    kernel()
}
