#!/bin/bash
# Slurm prolog: says in slurmd's log when a job begins on storage that hangs; can keep the job from starting.
#
# Install: install -m 755 iosonde.sh /etc/slurm/prolog.d/, and in slurm.conf:   Prolog=/etc/slurm/prolog.d/*
#          A prolog that fails drains the node and requeues the job. So this one succeeds, always, unless
#          IOSONDE_DRAIN_ON=hung (in /etc/default/iosonde): then it fails while a target hangs or its operations fail.
#          A file system that all nodes share hangs on all of them: every node that starts a job then drains.
#          IOSONDE_TARGETS="/work /home" looks at these only.
# Needs:   iosonde or iosonde-agent, whichever is there; IOSONDE names another.
# Costs:   one start of `iosonde now`, about 0.1 s of CPU (of `iosonde-agent now`: 1 ms) a job, at most 2 s of waiting; it touches no target.

[[ -r /etc/default/iosonde ]] && . /etc/default/iosonde
limit=2
read -ra targets <<<"${IOSONDE_TARGETS:-}"

# The pipe is read with a deadline and never waited for: its writer may hang where no signal reaches it.
exec {answers}< <(
    exec </dev/null 2>/dev/null
    IOSONDE=${IOSONDE:-$(command -v iosonde || command -v iosonde-agent)}
    NO_COLOR=1 "$IOSONDE" now --store "${IOSONDE_STORE:-/var/lib/iosonde}" -- "${targets[@]}"
)
hung=""
deadline=$((SECONDS + limit))
while left=$((deadline - SECONDS)); ((left > 0)) && IFS= read -r -t "$left" -u "$answers" line; do
    [[ "$line" == "hung "* ]] && hung=${hung:-$line}
done

[[ -n "$hung" ]] || exit 0
printf 'iosonde: %s\n' "$(tr -s ' ' <<<"$hung")"
[[ "${IOSONDE_DRAIN_ON:-}" == hung ]] && exit 1
exit 0
