// A shop's folder: its files, and in node_modules the built package and the shop's dependencies.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { vi } from 'vitest'
import { buildLibraries } from '../../package/build.ts'
import { PATIENT } from './patience.ts'
import { programEnv } from './run-caches.ts'

const ROOT = join(import.meta.dirname, '../..')

export interface RunningProgram {
  /** What it has printed, on both outputs. */
  readonly output: string
  close(): Promise<unknown>
}

export class ShopFolder {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  /** With a copy of `example`, a folder below examples/. */
  static async make(example: string, installed: readonly string[]): Promise<ShopFolder> {
    const path = await mkdtemp(join(tmpdir(), 'signalbox-shop-'))
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
    [program = '', ...args]: readonly string[],
    port: string,
    env: Record<string, string>,
  ): Promise<RunningProgram> {
    const child = spawn(program, args, {
      cwd: this.path,
      env: { ...programEnv(this.path), DENO_NO_UPDATE_CHECK: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const ended = once(child, 'close')
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    const close = () => {
      child.kill()
      return ended
    }
    const listens = async () => {
      if (child.exitCode !== null) throw new Error(`It ended: ${output}`)
      return await fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      )
    }
    try {
      await vi.waitUntil(listens, PATIENT)
    } catch (error) {
      await close()
      throw error
    }
    return {
      get output() {
        return output
      },
      close,
    }
  }

  remove(): Promise<void> {
    return rm(this.path, { recursive: true, force: true })
  }
}
