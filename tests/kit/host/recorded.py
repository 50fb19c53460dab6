"""Mount tables as kernels write them, for file systems no test machine has. Made up for these tests."""

ROOT = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw"
XFS = (
    "50 27 8:17 / /scratch rw,noatime shared:20 - xfs /dev/sdb1 rw,attr2,inode64,logbufs=8,noquota"
)
NFS4_HARD = (
    "61 27 0:52 / /home rw,relatime shared:31 - nfs4 filer:/export/home rw,vers=4.2,rsize=1048576,"
    "wsize=1048576,namlen=255,hard,proto=tcp,nconnect=4,timeo=600,retrans=2,sec=sys,"
    "clientaddr=192.0.2.7,local_lock=none,addr=192.0.2.1"
)
NFS3_SOFT = (
    "62 27 0:53 / /old rw,relatime - nfs filer:/export/old rw,vers=3,rsize=32768,wsize=32768,"
    "namlen=255,acregmin=600,acregmax=1200,soft,proto=udp,timeo=11,retrans=3,sec=sys,"
    "lookupcache=positive,fsc,local_lock=none,addr=192.0.2.1"
)
NFS_NOAC = (
    "63 27 0:54 / /exact rw,sync,relatime - nfs4 filer:/export/x rw,sync,vers=4.1,noac,hard,"
    "nocto,proto=tcp,timeo=600,retrans=2,addr=192.0.2.1"
)
LUSTRE = (
    "70 27 0:60 / /work rw,noatime - lustre 192.0.2.10@o2ib:192.0.2.11@o2ib:/work "
    "rw,checksum,flock,nouser_xattr,lruresize,lazystatfs,nouser_fid2path,verbose,noencrypt"
)
LUSTRE_BARE = "71 27 0:61 / /lfs2 rw,noatime - lustre mgs@tcp:/lfs2 rw,nolazystatfs,lruresize"
GPFS = "72 27 0:62 / /gpfs rw,relatime - gpfs gpfs0 rw"
CEPH = "73 27 0:63 / /ceph rw,relatime - ceph 192.0.2.20:6789:/ rw,name=user,secret=<hidden>,acl,nowsync"
SMB = (
    "74 27 0:64 / /share rw,relatime - cifs //server/share rw,vers=3.1.1,cache=loose,username=x,"
    "actimeo=1,soft"
)
SSHFS = (
    "75 27 0:65 / /ssh rw,nosuid,nodev,relatime - fuse.sshfs user@there:/dir "
    "rw,user_id=0,group_id=0,max_read=65536"
)
AUTOFS = "76 27 0:66 / /net rw,relatime - autofs /etc/auto.net rw,fd=6,pgrp=1,timeout=300,indirect"
OVERLAY = "77 27 0:67 / /merged rw,relatime - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w"
TMPFS = "78 27 0:68 / /fast rw,nosuid - tmpfs tmpfs rw,size=65536k"
READ_ONLY = "79 27 8:33 / /broken rw,relatime - ext4 /dev/sdc1 ro,errors=remount-ro,nobarrier"
STRICT = "80 27 8:34 / /strict rw - ext4 /dev/sdd1 rw,sync,data=journal"
SPACED = r"81 27 8:35 / /with\040space rw,relatime - ext4 /dev/disk\040one rw"
BIND = "82 27 254:0 /srv/data /bound rw,relatime - ext4 /dev/vda rw"

TABLE = "\n".join(
    value for name, value in dict(globals()).items() if name.isupper() and isinstance(value, str)
)

MEMINFO = "MemTotal:       16000000 kB\nMemAvailable:    8000000 kB\nSwapTotal:             0 kB\n"
PRESSURE = "some avg10=31.20 avg60=12.00 avg300=3.00 total=1\nfull avg10=0.00 avg60=0.00 total=0\n"
STAT = "cpu  {user} 0 100 10000 0 0 0 {steal} 0 0\ncpu0 1 2 3\n"
LOCKS = (
    "1: FLOCK  ADVISORY  WRITE 4711 08:11:131 0 EOF\n"
    "1: -> FLOCK  ADVISORY  WRITE 4712 08:11:132 0 EOF\n"
    "2: POSIX  ADVISORY  READ  -1 00:34:77 128 128\n"
)
