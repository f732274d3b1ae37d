// A shop's folder: its files, and in node_modules the built package and the shop's dependencies.

import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { vi } from 'vitest'
import { buildLibraries } from '../../tools/package/build.ts'
import { PATIENT } from './patience.ts'
import { type Program, startProgram } from './program.ts'
import { programEnv } from './run-home.ts'
import { tempFolder } from './temp-folder.ts'

const ROOT = join(import.meta.dirname, '../..')

export class ShopFolder {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  /** With a copy of `example`, a folder below examples/. */
  static async make(example: string, installed: readonly string[]): Promise<ShopFolder> {
    const path = tempFolder()
    await cp(join(ROOT, 'examples', example), path, { recursive: true })
    await writeFile(join(path, 'package.json'), '{"private":true,"type":"module"}')
    const modules = join(path, 'node_modules')
    await mkdir(modules)
    await buildLibraries(join(modules, 'signalbox'))
    for (const name of installed) {
      await symlink(join(ROOT, 'node_modules', name), join(modules, name))
    }
    return new ShopFolder(path)
  }

  /** Starts a program in the folder, and waits until it listens on its port. */
  async run(
    command: readonly string[],
    port: string,
    env: Record<string, string>,
  ): Promise<Program> {
    const program = startProgram(command, {
      cwd: this.path,
      env: { ...programEnv(this.path), DENO_NO_UPDATE_CHECK: '1', ...env },
    })
    await listening(program, port)
    return program
  }
}

/** Waits until a program listens on its port of this machine; ends it if it does not. */
export async function listening(program: Program, port: string): Promise<void> {
  // A GET may do something: the shop of the README charges.
  const init = { method: 'OPTIONS' }
  const listens = async () => {
    if (program.hasEnded) throw new Error(`It ended: ${program.output}`)
    return await fetch(`http://127.0.0.1:${port}/`, init).then(
      () => true,
      () => false,
    )
  }
  try {
    await vi.waitUntil(listens, PATIENT)
  } catch (error) {
    await program.stop()
    throw error
  }
}
