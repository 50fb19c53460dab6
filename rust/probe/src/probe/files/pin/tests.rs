use std::path::PathBuf;

use super::*;

#[test]
fn every_way_of_telling_an_index_is_understood() {
    for (answer, index) in [
        ("3\n", Some(3)),
        ("-1\n", Some(-1)),
        ("/work/.iosonde-0/h@OST0003\n3\n\n", Some(3)),
        ("lmm_stripe_offset:  3\n", Some(3)),
        ("stripe_count:  1 stripe_size:   1048576 pattern: raid0 stripe_offset: 10\n", Some(10)),
        ("lmv_stripe_offset: 1", Some(1)),
        ("", None),
        ("\n", None),
        ("/work/.iosonde-0/h@OST0003\n", None),
        ("has no stripe info\n", None),
    ] {
        assert_eq!(index_in(answer), index, "{answer:?}");
    }
}

/// A folder with a script in the place of `lfs`, which notes what it was asked.
struct Folder(PathBuf);

impl Folder {
    fn new(script: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("iosonde-pin-{}", iosonde_core::seed::fresh()));
        std::fs::create_dir(&folder).unwrap();
        let script = format!("#!/bin/sh\necho \"$*\" >> {}/asked\n{script}\n", folder.display());
        // Written by another process: a file that a fork of this one still holds open cannot be run.
        let run = |text: &str| Command::new("sh").args(["-c", text]).env("SCRIPT", &script).status().unwrap();
        let lfs = folder.join("lfs");
        assert!(run(&format!("printf %s \"$SCRIPT\" > {0} && chmod 755 {0}", lfs.display())).success());
        Self(folder)
    }
    fn lfs(&self, work: impl FnOnce(&Lfs<'_>) -> Result<(), ProbeError>) -> Result<(), String> {
        work(&Lfs(self.0.join("lfs").as_os_str())).map_err(|error| error.to_string())
    }
    fn asked(&self) -> String {
        let asked = std::fs::read_to_string(self.0.join("asked")).unwrap_or_default();
        asked.replace(&format!("{}/", self.0.display()), "")
    }
    fn path(&self) -> PathBuf {
        self.0.join("d")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn the_layout_is_set_while_the_directory_is_empty_and_read_back() {
    let folder = Folder::new("case $1 in getstripe) echo 3;; esac");
    let path = folder.path();
    folder.lfs(|lfs| lfs.directory(&path, Pin::Ost(3))).unwrap();
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, OWN_DIRECTORY);
    let once = "setstripe -c 1 -i 3 d\ngetstripe -d -i d\n";
    assert_eq!(folder.asked(), once);
    folder.lfs(|lfs| lfs.directory(&path, Pin::Ost(3))).unwrap();
    assert_eq!(folder.asked(), once.repeat(2), "an empty one may have been left by a worker that died");
    std::fs::write(path.join("data"), "x").unwrap();
    folder.lfs(|lfs| lfs.directory(&path, Pin::Ost(3))).unwrap();
    assert_eq!(folder.asked(), format!("{}getstripe -d -i d\n", once.repeat(2)));
}

#[test]
fn a_directory_of_a_metadata_target_is_made_there_and_kept_from_others() {
    let folder = Folder::new("case $1 in mkdir) mkdir -m 777 $4;; getdirstripe|getstripe) echo 1;; esac");
    let path = folder.path();
    for _ in 0..2 {
        folder.lfs(|lfs| lfs.directory(&path, Pin::Mdt(1))).unwrap();
    }
    folder.lfs(|lfs| lfs.file(&path, Pin::Mdt(1))).unwrap();
    assert_eq!(
        folder.asked(),
        "mkdir -i 1 d\ngetdirstripe -i d\ngetdirstripe -i d\ngetstripe --mdt-index d\n"
    );
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, OWN_DIRECTORY);
}

#[test]
fn what_goes_wrong_is_said_with_the_true_place() {
    let elsewhere = Folder::new("case $1 in getstripe) echo 7;; esac");
    let path = elsewhere.path();
    let message = elsewhere.lfs(|lfs| lfs.directory(&path, Pin::Ost(3))).unwrap_err();
    assert!(message.contains("lies on OST 7; expected OST 3"), "{message}");
    let message = elsewhere.lfs(|lfs| lfs.file(&path, Pin::Mdt(3))).unwrap_err();
    assert!(message.contains("lies on MDT 7; expected MDT 3"), "{message}");
    let refuses = Folder::new("echo 'usage: lfs' >&2; echo 'lfs: Operation not permitted' >&2; exit 1");
    let message = refuses.lfs(|lfs| lfs.directory(&refuses.path(), Pin::Mdt(1))).unwrap_err();
    assert!(message.contains("'lfs mkdir -i 1' was refused (lfs: Operation not permitted)"), "{message}");
    let mute = Folder::new("echo none");
    let message = mute.lfs(|lfs| lfs.directory(&mute.path(), Pin::Ost(1))).unwrap_err();
    assert!(message.contains("'lfs getstripe -d -i' said \"none\""), "{message}");
    let missing = Lfs(OsStr::new("/nowhere/lfs")).file(&path, Pin::Ost(1)).unwrap_err().to_string();
    assert!(missing.contains("cannot run 'lfs getstripe -i'") && missing.contains("PATH"), "{missing}");
    assert!(directory(&path, Pin::Directory).is_ok() && file(&path, Pin::Directory).is_ok());
}
