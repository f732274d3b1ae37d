// A program on a file system that it cannot write but for some folders, as in a container: a mount
// namespace of its own, in which the root is read-only.

import { spawnSync } from 'node:child_process'

/** `writable`: folders that stay so. `temporary`: gets a tmpfs of its own. */
export function readOnly(
  command: readonly string[],
  { writable, temporary }: { writable: readonly string[]; temporary: string },
): string[] {
  const binds = writable.map((folder) => `mount --bind '${folder}' '${folder}'`)
  const steps = [
    'mount --make-rprivate /',
    ...binds,
    `mount -t tmpfs tmpfs '${temporary}'`,
    'mount -o remount,bind,ro /',
    'cd /',
    'exec "$@"',
  ]
  const namespaces = ['--user', '--map-root-user', '--mount']
  return ['unshare', ...namespaces, '/bin/sh', '-c', steps.join(' && '), 'sh', ...command]
}

const [program = '', ...tried] = readOnly(['touch', '/signalbox-test'], {
  writable: [],
  temporary: '/mnt',
})

/** Why there is none; empty if there is. Part of the name of what is skipped. */
export const noReadOnly = /Read-only file system/.test(
  spawnSync(program, tried, { encoding: 'utf8' }).stderr ?? '',
)
  ? ''
  : ' (skipped: no read-only file system can be made here)'
