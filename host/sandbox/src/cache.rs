//! Compiled components on disk. What lies there is run as native code, so it is trusted only if
//! nobody else can write it, and only if it is byte for byte what was put there.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tribunal_protocol::digest::Digest;

/// The first line of an entry. Another format gets another number.
const MAGIC: &[u8] = b"tribunal compiled component 1\n";
/// The digest of the code, as text, and the end of its line.
const DIGEST_BYTES: usize = 65;

/// Why a folder is no cache.
#[derive(Debug, thiserror::Error)]
pub enum CacheFault {
    /// It could not be made or read.
    #[error("cache `{}`: {what}: {source}; give a folder that you may write, or none", path.display())]
    File {
        /// The folder.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// Others could put code there.
    #[error("cache `{}`: {why}, and what lies there is run as code; {fix}", path.display())]
    Open {
        /// The folder, or the one above it that is open.
        path: PathBuf,
        /// Who could write it.
        why: &'static str,
        /// What to do.
        fix: String,
    },
}

/// A folder of compiled components.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Takes a folder, which is made if it is not there, for its owner alone.
    pub(crate) fn open(folder: &Path) -> Result<Cache, CacheFault> {
        let fault = |what| {
            let path = folder.to_owned();
            move |source| CacheFault::File { path, what, source }
        };
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder).map_err(fault("making it"))?;
        let folder = folder.canonicalize().map_err(fault("finding it"))?;
        // A file of ours shows whether we may write, and who we are.
        let probe = tempfile::tempfile_in(&folder).map_err(fault("writing to it"))?;
        let ours = probe.metadata().map_err(fault("looking at it"))?;
        for (above, place) in folder.ancestors().enumerate() {
            let there = fs::metadata(place).map_err(fault("looking at it"))?;
            closed(place, above, &there, &ours)?;
        }
        Ok(Cache { folder })
    }

    /// The code of a key, if it is there and whole.
    pub(crate) fn get(&self, key: &str) -> Option<Vec<u8>> {
        let mut file = File::open(self.path(key)).ok()?;
        let mut head = [0; MAGIC.len() + DIGEST_BYTES];
        file.read_exact(&mut head).ok()?;
        let digest = head.strip_prefix(MAGIC)?.strip_suffix(b"\n")?;
        let mut code = Vec::new();
        file.read_to_end(&mut code).ok()?;
        (Digest::of(&code).to_string().as_bytes() == digest).then_some(code)
    }

    /// Puts code under a key: whole or not at all, whoever else does the same.
    pub(crate) fn put(&self, key: &str, code: &[u8]) -> io::Result<()> {
        let mut staged = tempfile::Builder::new().prefix(".staged-").tempfile_in(&self.folder)?;
        staged.write_all(MAGIC)?;
        staged.write_all(format!("{}\n", Digest::of(code)).as_bytes())?;
        staged.write_all(code)?;
        staged.persist(self.path(key))?;
        Ok(())
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.cwasm"))
    }
}

/// Refuses a folder that others could change: the cache itself (`above` is 0), or one above it,
/// which would let them put another in its place.
#[cfg(unix)]
fn closed(place: &Path, above: usize, there: &Metadata, ours: &Metadata) -> Result<(), CacheFault> {
    use std::os::unix::fs::MetadataExt;
    const ROOT: u32 = 0;
    const GROUP: u32 = 0o020;
    const OTHERS: u32 = 0o002;
    const STICKY: u32 = 0o1000;
    let open = |why, fix| Err(CacheFault::Open { path: place.to_owned(), why, fix });
    let chmod = |mode: &str| format!("close it: chmod {mode} '{}'", place.display());
    // Above the cache, a group that one shares with one's own files is common and meant.
    let forbidden = if above == 0 { GROUP | OTHERS } else { OTHERS };
    let kept = above > 0 && there.mode() & STICKY != 0;
    if there.uid() != ours.uid() && (above == 0 || there.uid() != ROOT) {
        return open("it belongs to somebody else", "give a folder of your own".to_owned());
    }
    if there.mode() & forbidden != 0 && !kept {
        return open("others may write it", chmod(if above == 0 { "700" } else { "o-w" }));
    }
    Ok(())
}

#[cfg(not(unix))]
fn closed(_: &Path, _: usize, _: &Metadata, _: &Metadata) -> Result<(), CacheFault> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn code_comes_back_and_nothing_else_does() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("a/b")).unwrap();
        assert_eq!(fs::metadata(folder.path().join("a/b")).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(cache.get("k"), None);
        cache.put("k", b"code").unwrap();
        assert_eq!(cache.get("k").unwrap(), b"code");
        cache.put("k", b"other").unwrap();
        assert_eq!(cache.get("k").unwrap(), b"other");
        assert_eq!(cache.get("l"), None);
    }

    #[test]
    fn a_damaged_entry_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        cache.put("k", b"some native code").unwrap();
        let path = cache.path("k");
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert_eq!(cache.get("k"), None, "byte {at} flipped");
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(cache.get("k"), None, "cut at {at}");
        }
        fs::write(&path, [whole.as_slice(), b"x"].concat()).unwrap();
        assert_eq!(cache.get("k"), None, "grown");
        fs::write(&path, &whole).unwrap();
        assert!(cache.get("k").is_some());
    }

    #[test]
    fn a_folder_that_others_may_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("cache");
        Cache::open(&inner).unwrap();
        for open in [0o770, 0o707, 0o777, 0o1777] {
            mode(&inner, open);
            let fault = Cache::open(&inner).unwrap_err().to_string();
            assert!(fault.contains("chmod 700"), "{open:o}: {fault}");
        }
        mode(&inner, 0o755);
        Cache::open(&inner).unwrap();
        mode(folder.path(), 0o777);
        assert!(Cache::open(&inner).unwrap_err().to_string().contains("chmod o-w"));
        mode(folder.path(), 0o1777);
        Cache::open(&inner).unwrap();
    }

    #[test]
    fn a_file_is_no_cache() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let fault = Cache::open(&file.join("cache")).unwrap_err().to_string();
        assert!(fault.contains("making it"), "{fault}");
    }

    #[test]
    fn writers_at_once_leave_one_whole_entry() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        std::thread::scope(|scope| {
            for writer in 0..4_u8 {
                let cache = &cache;
                scope.spawn(move || {
                    for _ in 0..50 {
                        cache.put("k", &vec![writer; 10_000]).unwrap();
                        assert_eq!(cache.get("k").unwrap().len(), 10_000);
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
