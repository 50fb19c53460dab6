#!/bin/sh
# After removal. The store and the user stay: /var/lib/iosonde holds what was measured, and files are still its user's.
# dpkg --purge removes /etc/iosonde; rpm leaves a configuration that was changed as agent.toml.rpmsave.

case "${1:-}" in
    purge) rm -rf /etc/iosonde ;;
esac
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || echo "iosonde-agent: try 'systemctl daemon-reload'" >&2
fi
exit 0
