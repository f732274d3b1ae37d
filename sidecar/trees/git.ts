// The only calls of the program git: what two trees have in common. None of them runs what the
// repository's own configuration names, and a missing object is not fetched.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const TIMEOUT_MS = 5_000
const MAX_BYTES = 64 << 20

/** No HOME: a user's configuration is not read either. */
const environment = (path: string): Record<string, string> => ({
  PATH: path,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_LAZY_FETCH: '1',
  GIT_ALLOW_PROTOCOL: '',
})

export interface Git {
  /** Object ids of all merge bases of two `HEAD`s. Undefined: git did not answer. */
  mergeBases(one: string, other: string): Promise<string[] | undefined>
  /** Path to blob id, of the files of a commit; links and submodules are left out. */
  files(
    commit: string,
    isOfBoard?: (path: string) => boolean,
  ): Promise<Map<string, string> | undefined>
  blob(id: string): Promise<Buffer | undefined>
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const FILE = /^100\d{3} blob ([0-9a-f]+)\t(.+)$/s

/**
 * For a common git folder; `path` is where programs are looked for, as in `PATH`. Calls run one
 * after the other, since each may read a whole history.
 */
export function openGit(folder: string, path: string): Git {
  let last: Promise<unknown> = Promise.resolve()
  const ask = (...args: string[]): Promise<Answer> => {
    const next = last.then(() => run(folder, path, args))
    last = next
    return next
  }
  const call = async (...args: string[]): Promise<Buffer | undefined> => {
    const { code, out } = await ask(...args)
    return code === 0 ? out : undefined
  }
  return {
    async mergeBases(one, other) {
      const { code, out } = await ask('merge-base', '--all', one, other)
      // By 1 it says that there is none.
      if (code !== 0 && code !== 1) return undefined
      const lines = out.toString().split('\n')
      return lines.filter((line) => OBJECT_ID.test(line))
    },
    async files(commit, isOfBoard = () => true) {
      if (!OBJECT_ID.test(commit)) return undefined
      const out = await call('ls-tree', '-r', '-z', '--full-tree', commit)
      if (!out) return undefined
      const files = new Map<string, string>()
      for (const line of out.toString().split('\0')) {
        const [, id, path] = FILE.exec(line) ?? []
        if (id && path && isOfBoard(path)) files.set(path, id)
      }
      return files
    },
    blob: async (id) => (OBJECT_ID.test(id) ? await call('cat-file', 'blob', id) : undefined),
  }
}

/** Without them, macOS's own `git` opens a dialog that offers to install them. */
const DEVELOPER_TOOLS = [
  '/Library/Developer/CommandLineTools/usr/bin/git',
  '/Applications/Xcode.app/Contents/Developer/usr/bin/git',
]

/**
 * Whether `git` may be called: it is there, and is more than the offer to install it.
 * @forTests Skips what needs it.
 */
export function hasGit(
  { platform, path }: { platform: string; path: string },
  exists: (file: string) => boolean,
): boolean {
  const name = platform === 'win32' ? 'git.exe' : 'git'
  const found = path.split(delimiter).find((dir) => dir !== '' && exists(join(dir, name)))
  const isOffer = platform === 'darwin' && found === '/usr/bin'
  return found !== undefined && (!isOffer || DEVELOPER_TOOLS.some(exists))
}

interface Answer {
  /** Undefined: it did not end by itself, or is not there. */
  code: number | undefined
  out: Buffer
}

function run(folder: string, path: string, args: string[]): Promise<Answer> {
  const { platform } = process
  if (!hasGit({ platform, path }, existsSync)) {
    return Promise.resolve({ code: undefined, out: Buffer.alloc(0) })
  }
  const options = {
    env: environment(path),
    cwd: folder,
    encoding: 'buffer',
    timeout: TIMEOUT_MS,
    maxBuffer: MAX_BYTES,
    killSignal: 'SIGKILL',
  } as const
  return new Promise((done) => {
    execFile('git', ['--git-dir', folder, ...args], options, (error, out) => {
      const code = error ? error.code : 0
      done({ code: typeof code === 'number' ? code : undefined, out })
    })
  })
}
