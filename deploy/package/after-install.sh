#!/bin/sh
# After installation or upgrade, of .deb and .rpm. The service is not enabled: first say what to watch.
# What fails here is said and leaves the package installed: dpkg would keep it half configured, with every later call of it failing.

try() {
    "$@" || echo "iosonde-agent: '$*' failed; the package is installed without it: mend its cause, then run it again" >&2
}

if command -v systemd-sysusers >/dev/null 2>&1; then
    try systemd-sysusers iosonde.conf
elif ! getent passwd iosonde >/dev/null; then
    try useradd --system --user-group --home-dir /var/lib/iosonde --shell /usr/sbin/nologin iosonde
fi
if command -v systemd-tmpfiles >/dev/null 2>&1; then
    try systemd-tmpfiles --create iosonde.conf
else
    try install -d -m 755 -o iosonde -g iosonde /var/lib/iosonde
fi

# A probe that runs goes on with the new binary, unless that refuses its configuration: then it goes on as it is. Nobody waits for
# the start, which takes minutes where it fills a file.
if [ -d /run/systemd/system ]; then
    try systemctl daemon-reload
    if iosonde-agent config check /etc/iosonde/agent.toml >/dev/null; then
        try systemctl --no-block try-restart iosonde-agent.service
    else
        echo "iosonde-agent: this version refuses /etc/iosonde/agent.toml, see above; a running agent goes on as it was: mend the file, then 'systemctl restart iosonde-agent'" >&2
    fi
fi
exit 0
