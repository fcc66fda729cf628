//! `make run LAUNCH=…`: copies on other hosts, by a real sshd with GNU parallel and by a real Slurm.
//! `make test-launchers` installs these.
//!
//! Their daemons run in namespaces for processes, mounts and network: nothing of them is reachable from outside, and
//! all of it ends with the test, however that ends.

use crate::support::{PROF, REWRITE, exits, module, project, rewrite, run};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Prints what must be the same everywhere: the order of the environment need not be. The first process that is given a
/// folder waits there, as its victim.
const PROGRAM: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/stat.h>
    #include <unistd.h>
    extern char **environ;
    __attribute__((noinline)) int work(int n) { __asm__ volatile(""); return n % 3 ? n : 1; }
    int order(const void *a, const void *b) { return strcmp(*(char **)a, *(char **)b); }
    int main(int argc, char **argv) {
        int c, sum = 0;
        for (c = 0; environ[c]; c++) {}
        qsort(environ, c, sizeof *environ, order);
        for (int i = 0; i < atoi(argv[1]); i++) sum += work(i);
        for (char **e = environ; *e; e++)
            if (strncmp(*e, "P3_PROFILE_FILE=", 16) != 0) puts(*e);
        while ((c = getchar()) != EOF) sum = sum * 31 + c;
        FILE *f = fopen("data", "r");
        printf("%d %d %o\n", sum, f ? fgetc(f) : -1, umask(0));
        if (argc > 2 && chdir(argv[2]) == 0 && mkdir("victim", 0777) == 0) {
            f = fopen("pid", "w");
            fprintf(f, "%d\n", (int)getpid());
            fclose(f);
            while (access("go", F_OK) != 0) usleep(10000);
        }
        return 0;
    }"#;

/// A shell in namespaces of its own, and what was started there.
struct Machine {
    shell: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    dir: PathBuf,
}

impl Machine {
    /// With `dir/out`, the program in four copies, and `start` to start daemons.
    fn start(dir: &Path, start: &str) -> Machine {
        let flags = ["-O1", "-g"];
        let module = module("program.c", PROGRAM, &flags, dir);
        // A scheme that gives every copy something, however small the program.
        rewrite(&[module], &["-k", "4", "--scheme", "p3"], &dir.join("out"));
        std::fs::write(dir.join("input"), "some text").unwrap();
        std::fs::write(dir.join("data"), "A").unwrap();
        let mut unshare = Command::new("unshare");
        unshare.args(["--net", "--mount", "--pid", "--fork", "--kill-child"]);
        unshare.args(["--mount-proc", "sh"]).current_dir(dir);
        unshare.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = unshare.spawn().unwrap();
        let (to, from) = (shell.stdin.take().unwrap(), shell.stdout.take().unwrap());
        let mut machine = Machine {
            shell,
            to,
            from: BufReader::new(from),
            dir: dir.to_path_buf(),
        };
        // A second address, without which the resolver believes that there is no network.
        machine.must(&format!(
            "set -e; id -u | grep -qx 0 || {{ echo namespaces need root; exit 1; }}
            ip link set lo up; ip addr add 127.0.0.2/8 dev lo
            mount -t tmpfs none /run
            D='{}'\n{start}",
            dir.display()
        ));
        machine
    }

    /// What a script prints, and whether it succeeded. `M` is make for the output folder.
    fn run(&mut self, script: &str) -> (bool, String) {
        let said = self.dir.join("said");
        let preamble = format!(
            "D='{}'; M='make -s -C out P3_PROF={PROF}'\nexport PARALLEL_HOME=\"$D/parallel\" \
            SLURM_CONF=\"$D/slurm.conf\"\n\
             export PARALLEL_SSH=\"ssh -F $D/ssh.conf\" TERM=dumb",
            self.dir.display()
        );
        std::fs::write(self.dir.join("script"), format!("{preamble}\n{script}\n")).unwrap();
        writeln!(self.to, "sh script >said 2>&1 </dev/null; echo $?").unwrap();
        let mut status = String::new();
        self.from.read_line(&mut status).unwrap();
        let text = String::from_utf8_lossy(&std::fs::read(said).unwrap()).into_owned();
        (status == "0\n", text)
    }

    #[track_caller]
    fn must(&mut self, script: &str) -> String {
        let (ok, said) = self.run(script);
        assert!(ok, "{script}\n{said}");
        said
    }

    #[track_caller]
    fn fails(&mut self, script: &str, expected: &[&str]) {
        let (ok, said) = self.run(script);
        assert!(!ok, "{script}\n{said}");
        for text in expected {
            assert!(said.contains(text), "{script}\n{said}");
        }
    }

    /// The executions of `work` in the merged profile, and what a copy printed.
    fn result(&self) -> (u64, Vec<String>) {
        let merged = self.dir.join("out/profile.p3prof");
        run(Command::new(PROF).arg("verify").arg(&merged));
        let printed = std::fs::read_to_string(self.dir.join("out/run/copy-3/stdout")).unwrap();
        let work = exits(&merged)["work"];
        (work, printed.lines().map(str::to_string).collect())
    }

    /// The hosts of all copies, sorted, each once.
    fn hosts(&self) -> Vec<String> {
        let host =
            |k: u32| std::fs::read_to_string(self.dir.join(format!("out/run/copy-{k}/host")));
        let mut hosts: Vec<String> = (0..4).map(|k| host(k).unwrap().trim().into()).collect();
        hosts.sort();
        hosts.dedup();
        hosts
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // The first process of the namespace goes with unshare, and all others with that.
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

const OPTIONS: &str = "ARGS=7 STDIN=input FILES=data";

/// Starts a run whose victim waits; `$d` is its folder, `$k` its copy, `$m` make.
const WAITING: &str = r#"
    d=$(mktemp -d "$D/victim-XXXXXX"); chmod 777 "$d"
    $M run $LAUNCH ARGS="7 $d" & m=$!
    n=0; while [ ! -s "$d/pid" ]; do n=$((n + 1)); [ $n -lt 600 ] || exit 99; sleep 0.1; done"#;

const SSHD: &str = r#"
    mkdir -m 755 /run/sshd; mkdir "$D/there"
    ssh-keygen -q -t ed25519 -N '' -f host; ssh-keygen -q -t ed25519 -N '' -f me
    for n in 1 2; do
        printf '%s\n' 'ListenAddress 127.0.0.1' "Port 220$n" "HostKey $D/host" "AuthorizedKeysFile $D/me.pub" \
            'StrictModes no' 'UsePAM no' 'PermitRootLogin yes' 'PasswordAuthentication no' \
            "PidFile $D/sshd$n.pid" "SetEnv TMPDIR=$D/there" >sshd$n.conf
        "$(command -v sshd || echo /usr/sbin/sshd)" -f "$D/sshd$n.conf" -E "$D/sshd.log"
        printf 'Host node%s\nPort 220%s\n' $n $n >>ssh.conf
    done
    printf '%s\n' 'Host *' 'HostName 127.0.0.1' "IdentityFile $D/me" 'IdentitiesOnly yes' 'BatchMode yes' \
        'StrictHostKeyChecking no' "UserKnownHostsFile $D/known" 'LogLevel ERROR' >>ssh.conf
    for n in 1 2; do ssh -F ssh.conf node$n true; done"#;

#[test]
#[ignore = "make test-launchers"]
fn parallel_by_ssh() {
    let dir = crate::support::folder();
    let mut machine = Machine::start(dir.path(), SSHD);
    machine.must(&format!("umask 027; $M run {OPTIONS}"));
    let local = machine.result();
    let nodes = ["node1", "node2"];
    // What is sent, and what is shared, in a folder that wants quotes.
    let sent =
        format!("umask 027; $M run LAUNCH=parallel HOSTS='node1 node2' FIXED_TIME=1 {OPTIONS}");
    machine.must(&sent.replace("FIXED_TIME=1 ", ""));
    assert_eq!(
        (machine.result(), machine.hosts()),
        (local, nodes.map(String::from).into())
    );
    machine.must(&sent);
    assert_eq!(
        std::fs::read_dir(dir.path().join("there")).unwrap().count(),
        0
    );
    let odd = "o'ut {#} {} $PWD";
    std::fs::rename(dir.path().join("out"), dir.path().join(odd)).unwrap();
    let shared = r#"printf 'node2\n:\n' >hosts
        make -s -C "o'ut {#} {} \$PWD" run LAUNCH=parallel HOSTFILE=hosts"#;
    for how in ["", "SHARED=1"] {
        machine.must(&format!(
            "umask 027; {shared} {how} {OPTIONS} P3_PROF={PROF}"
        ));
    }
    std::fs::rename(dir.path().join(odd), dir.path().join("out")).unwrap();
    assert!(machine.hosts().contains(&"node2".into()));
    // What is wrong, and what is done about it.
    machine.fails(
        "$M run LAUNCH=parallel ARGS=7",
        &["p3: LAUNCH=parallel: name the hosts: HOSTS='node1 node2', or HOSTFILE="],
    );
    machine.fails(
        "$M run LAUNCH=cloud ARGS=7",
        &["p3: LAUNCH=cloud: choose local, parallel (hosts by ssh) or slurm"],
    );
    machine.must(&format!("{WAITING_SSH}{WAITING}\n{LOSE_SSH}"));
    machine.must(
        "k=$(cat lost); $M run-$k ARGS=\"$(cat out/run/copy-$(( (k + 1) % 4 ))/args)\" && $M merge",
    );
    machine.must("kill $(cat sshd2.pid)");
    machine.fails(
        &sent,
        &["was lost on node2: see whether ssh node2 works, take it out of HOSTS, or let others"],
    );
    machine.must(&format!("{sent} PARALLEL_FLAGS='--retries 3'"));
    assert_eq!(machine.hosts(), ["node1"]);
}

const WAITING_SSH: &str = "LAUNCH='LAUNCH=parallel SHARED=1 HOSTS=node1,node2'";

/// Ends the sshd that the victim descends from: make must fail and name the copy, which is noted in `lost`.
const LOSE_SSH: &str = r#"
    p=$(cat "$d/pid")
    while [ "$(cat /proc/$p/comm)" != sshd ]; do p=$(awk '$1 == "PPid:" { print $2 }' /proc/$p/status); done
    kill -KILL $p
    wait $m && exit 98
    sed -n 's/^p3: copy \([0-9]\).* was lost on node[12]:.*/\1/p' said >lost
    cat said; [ -s lost ]; touch "$d/go""#;

const SLURM: &str = r#"
    chmod 755 "$D"; mkdir state
    head -c 1024 /dev/urandom >key; chmod 400 key
    munged --force --key-file="$D/key" --socket="$D/munge.socket" --log-file="$D/munge.log" \
        --pid-file="$D/munge.pid" --seed-file="$D/seed"
    cat >slurm.conf <<END
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
AuthInfo=socket=$D/munge.socket
SlurmctldPidFile=$D/slurmctld.pid
SlurmctldLogFile=$D/slurmctld.log
SlurmdPidFile=$D/slurmd-%n.pid
SlurmdLogFile=$D/slurmd-%n.log
SlurmdSpoolDir=$D/spool-%n
StateSaveLocation=$D/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
SelectType=select/linear
KillWait=1
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=17001 CPUs=1
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=17002 CPUs=1
PartitionName=all Nodes=n[1-2] Default=YES State=UP
END
    slurmctld
    for n in n1 n2; do mkdir spool-$n; slurmd -N $n; done
    n=0; until sinfo -h -t idle -o %D 2>/dev/null | grep -qx 2; do n=$((n + 1)); [ $n -lt 600 ]; sleep 0.2; done"#;

/// The victim's copy, by where its output goes: `$k`; its job: `$job`.
const VICTIM: &str = r#"
    k=$(readlink "/proc/$(cat "$d/pid")/fd/1"); k=${k%/stdout}; k=${k##*-}
    job=$(squeue -h -r -t R -o '%F_%K' | grep "_$k\$")"#;

#[test]
#[ignore = "make test-launchers"]
fn slurm() {
    let dir = crate::support::folder();
    let mut machine = Machine::start(dir.path(), SLURM);
    machine.must(&format!("umask 027; $M run {OPTIONS}"));
    let local = machine.result();
    let said = machine.must(&format!(
        "umask 027; $M run LAUNCH=slurm {OPTIONS} SBATCH_FLAGS=\"--comment='two words'\""
    ));
    assert!(
        said.contains("raw profiles  4\n  copies        4 of 4\n"),
        "{said}"
    );
    assert_eq!(
        (machine.result(), machine.hosts()),
        (local, ["n1", "n2"].map(String::from).into())
    );
    machine.fails(
        "$M run LAUNCH=slurm ARGS=7 SBATCH_FLAGS=--nosuch",
        &["p3: sbatch refuses the job: see above; options"],
    );
    let waiting = format!("LAUNCH=LAUNCH=slurm{WAITING}{VICTIM}\n");
    let ran = |machine: &Machine| {
        let (work, lines) = machine.result();
        assert_eq!(work, 7);
        assert!(lines.contains(&"15 -1 22".into()), "{lines:?}");
    };
    // Killed and started again by Slurm, at once and not after two minutes, but in another second: a node takes no job
    // that starts in the second in which it has killed it (`Job credential revoked`).
    machine.must(&format!(
        "{waiting} scontrol requeue $job
        n=0; until squeue -h -r -t PD -o '%F_%K' | grep -qx $job; do n=$((n + 1)); [ $n -lt 600 ] || exit 97; sleep \
        0.1; done
        sleep 2
        for n in $(seq 240); do
            scontrol update jobid=$job StartTime=now 2>/dev/null
            kill -0 $m 2>/dev/null || break
            sleep 0.5
        done; wait $m"
    ));
    ran(&machine);
    // Started once more while the first attempt, on a host that was given up, runs on.
    machine.fails(
        &format!("{waiting} env -i PATH=\"$PATH\" sh -c 'cd out && exec sh run/raw/*/start task '$k' other' || exit 0
            touch \"$d/go\"; wait $m"),
        &["did not run, but all copies have: make merge"],
    );
    machine.must("grep -q 'was started once more meanwhile: this attempt does not count' out/run/raw/*/copy-?.out; $M \
        merge");
    ran(&machine);
    assert!(machine.hosts().contains(&"other".into()));
    // Lost.
    machine.fails(
        &format!("{waiting} scancel $job; wait $m"),
        &[
            "p3: copy ",
            "has not come to its end (job ",
            "make run again, or run it here (make run-",
        ],
    );
}

/// Ranks of a program of Open MPI are runs of it, and add up.
#[test]
#[ignore = "make test-launchers"]
fn ranks_of_open_mpi() {
    let dir = crate::support::folder();
    let p3 = |arguments: &[&str]| {
        let mut command = Command::new(REWRITE);
        command.args(arguments).current_dir(dir.path());
        // Open MPI asks root twice whether that is meant, and a machine of few cores for more.
        command
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .env("SOURCE", project("testdata/builds/mpi/sum.c"));
        run(&mut command)
    };
    let compile = "OMPI_CC=$CC mpicc -O2 -g -o sum \"$SOURCE\"";
    // Open MPI starts threads of its own in each rank: plain increments may lose counts.
    let atomic = ["--update", "atomic"];
    p3(&[
        &["build", "-k", "2", "--scheme", "p3", "-o", "out"][..],
        &atomic,
        &["--", "sh", "-c", compile],
    ]
    .concat());
    let ranks = ["mpirun", "--oversubscribe", "-np", "3", "./sum"];
    let said = p3(&[&["suite", "-o", "out", "--"], &ranks[..]].concat());
    // 0 + … + 998, and 1 or 2 for what another rank takes.
    assert_eq!(
        String::from_utf8_lossy(&said.stdout),
        "3 ranks: 501499\n".repeat(2)
    );
    let merged = dir.path().join("out/sum.p3/profile.p3prof");
    run(Command::new(PROF).args(["verify", "--strict"]).arg(&merged));
    let exits = exits(&merged);
    assert_eq!((exits["main"], exits["work"]), (3, 3 * 999));
}
