// The package as users get it: built, packed, and installed by npm in an empty folder.

import { execFile } from 'node:child_process'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { buildPackage } from '../../tools/package/build.ts'
import { tempFolder } from './temp-folder.ts'

export const run = promisify(execFile)

/** Our environment without the variables of npm, which would configure the installing npm. */
export const MACHINE: NodeJS.ProcessEnv = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?!config_cache$)/.test(name)),
  ),
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((dir) => !dir.includes('node_modules'))
    .join(delimiter),
  DENO_NO_UPDATE_CHECK: '1',
}

/** For programs whose `node` is the first of the path: npx, scripts. */
export const CURRENT: NodeJS.ProcessEnv = {
  ...MACHINE,
  PATH: `${dirname(process.execPath)}${delimiter}${MACHINE.PATH}`,
}

/** A Node 22, which is too large for a dependency. `.ci/run` installs one. */
const { NODE_22 } = process.env
if (NODE_22 === undefined) console.warn('NODE_22 names no Node 22: the package is not run on one.')

export const NODES = [
  ...(NODE_22 === undefined ? [] : [{ name: 'Node 22', node: NODE_22 }]),
  { name: 'Node 24', node: process.execPath },
]

export interface InstalledPackage {
  /** The folder where it is installed. It may contain ES modules. */
  folder: string
  /** The package itself. */
  dir: string
  tarball: string
}

export async function installPackage(): Promise<InstalledPackage> {
  const folder = tempFolder()
  const built = join(folder, 'built')
  await buildPackage(built)
  await run('npm', ['pack', '--pack-destination', folder], { cwd: built, env: MACHINE })
  await rm(built, { recursive: true })
  const name = (await readdir(folder)).find((file) => file.endsWith('.tgz')) ?? ''
  const tarball = join(folder, name)
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts']
  await run('npm', ['install', ...quiet, tarball], { cwd: folder, env: MACHINE })
  const dir = join(folder, 'node_modules/signalbox')
  return { folder, dir, tarball }
}
