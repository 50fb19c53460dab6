#!/bin/sh
# After installation or upgrade, of .deb and .rpm. The service is not enabled: first say what to watch.
set -e

if command -v systemd-sysusers >/dev/null 2>&1; then
    systemd-sysusers iosonde.conf
elif ! getent passwd iosonde >/dev/null; then
    useradd --system --user-group --home-dir /var/lib/iosonde --shell /usr/sbin/nologin iosonde
fi
if command -v systemd-tmpfiles >/dev/null 2>&1; then
    systemd-tmpfiles --create iosonde.conf
else
    install -d -m 755 -o iosonde -g iosonde /var/lib/iosonde
fi

# A probe that runs goes on with the new binary.
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    systemctl try-restart iosonde-agent.service
fi
