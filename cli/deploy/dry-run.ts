// A copy of a Worker's folder, to build it without touching it.

import { existsSync } from 'node:fs'
import { cp, mkdir, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/** What is built, or belongs to other programs. */
const LEFT_OUT = new Set(['node_modules', '.wrangler', '.git'])

/** `to` is a new folder. What is imported is found where `from` would find it. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to)
  if (existsSync(from)) {
    await cp(from, to, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) })
  }
  const modules = modulesAbove(from)
  if (modules !== undefined) await symlink(modules, join(to, 'node_modules'))
}

function modulesAbove(dir: string): string | undefined {
  const modules = join(dir, 'node_modules')
  if (existsSync(modules)) return modules
  return dirname(dir) === dir ? undefined : modulesAbove(dirname(dir))
}
