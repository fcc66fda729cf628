//! Where raw profiles are read from: files, in which processes may still count, and memory.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Where a raw profile is.
pub(crate) trait Source {
    /// Fills `out` from offset `at` on.
    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()>;

    /// In bytes, now.
    fn length(&self) -> io::Result<u64>;

    /// The first offset from `at` on that may hold other bytes than zeros; `None`: there is none.
    fn data_from(&self, at: u64) -> io::Result<Option<u64>>;
}

impl Source for File {
    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        self.read_exact_at(out, at)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn data_from(&self, at: u64) -> io::Result<Option<u64>> {
        match rustix::fs::seek(self, rustix::fs::SeekFrom::Data(at)) {
            Ok(data) => Ok(Some(data)),
            Err(rustix::io::Errno::NXIO) => Ok(None),
            // The file system does not know about holes.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::OPNOTSUPP) => Ok(Some(at)),
            Err(e) => Err(e.into()),
        }
    }
}

impl Source for &[u8] {
    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let bytes = self.get(at..).and_then(|b| b.get(..out.len()));
        out.copy_from_slice(bytes.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn data_from(&self, at: u64) -> io::Result<Option<u64>> {
        Ok(Some(at))
    }
}
