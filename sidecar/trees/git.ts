// The only calls of the program git: what two trees have in common, and what their commits changed.
// None of them runs what the repository's own configuration names, and a missing object is not
// fetched.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Commit, parseLog } from './history.ts'

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
  GIT_LITERAL_PATHSPECS: '1',
})

/** A repository's own configuration could give a log another form, or run a program for it. */
const PLAIN_LOG = {
  'log.showSignature': false,
  'log.showRoot': true,
  'log.follow': false,
  'log.diffMerges': 'first-parent',
  'diff.relative': false,
  'diff.orderFile': '/dev/null',
}
const PLAIN = Object.entries(PLAIN_LOG).flatMap(([key, value]) => ['-c', `${key}=${value}`])
const RAW = ['--raw', '-z', '--no-abbrev', '--no-renames', '-m', '--first-parent', '--no-color']

export interface Git {
  /** Object ids of all merge bases of two `HEAD`s. Undefined: git did not answer. */
  mergeBases(one: string, other: string): Promise<string[] | undefined>
  /** Path to blob id, of the files of a commit; links and submodules are left out. */
  files(
    commit: string,
    isOfBoard?: (path: string) => boolean,
  ): Promise<Map<string, string> | undefined>
  blob(id: string): Promise<Buffer | undefined>
  /** A file of a commit. */
  file(commit: string, path: string): Promise<Buffer | undefined>
  /** Those of them that git gave within its bounds, by id. */
  blobs(ids: readonly string[]): Promise<Map<string, Buffer>>
  /** The newest commit that all of these have in common. Undefined: none, or no answer. */
  common(commits: readonly string[]): Promise<string | undefined>
  /** By first parents, the newest first: of `head`, without those of `before`. */
  log(head: string, before: readonly string[], of: LogOf): Promise<Commit[] | undefined>
}

/** Of which files. */
export interface LogOf {
  /** From the top of the tree; empty: all. */
  folder: string
  isOfBoard: (path: string) => boolean
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const FILE = /^100\d{3} blob ([0-9a-f]+)\t(.+)$/s

/**
 * For a common git folder; `path` is where programs are looked for, as in `PATH`. Calls run one
 * after the other, since each may read a whole history.
 */
export function openGit(folder: string, path: string): Git {
  let last: Promise<unknown> = Promise.resolve()
  const give = (input: string, ...args: string[]): Promise<Answer> => {
    const next = last.then(() => run(folder, path, args, input))
    last = next
    return next
  }
  const ask = (...args: string[]): Promise<Answer> => give('', ...args)
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
    file: (commit, path) => call('cat-file', 'blob', `${commit}:${path}`),
    async blobs(ids) {
      if (ids.length === 0) return new Map()
      // What came before it was stopped counts.
      const { out } = await give(`${ids.join('\n')}\n`, 'cat-file', '--batch')
      return parseBatch(out)
    },
    async common(commits) {
      const out = await call('merge-base', '--octopus', ...commits)
      const id = out?.toString().trim()
      return id !== undefined && OBJECT_ID.test(id) ? id : undefined
    },
    async log(head, before, { folder, isOfBoard }) {
      const range = [head, '--not', ...before]
      // `--sparse`: commits that changed nothing in the folder are listed, too.
      const within = folder === '' ? [] : ['--sparse', '--', folder]
      const out = await call(...PLAIN, 'log', ...RAW, '--format=%H %ct %P', ...range, ...within)
      return out && parseLog(out.toString(), isOfBoard)
    },
  }
}

const BLOB = /^([0-9a-f]+) blob (\d+)$/

/** A line that names the object, its bytes, and a line end; `<id> missing` has no bytes. */
function parseBatch(out: Buffer): Map<string, Buffer> {
  const found = new Map<string, Buffer>()
  for (let at = 0; at < out.length; ) {
    const end = out.indexOf('\n', at)
    if (end === -1) break
    const [, id, size] = BLOB.exec(out.toString('latin1', at, end)) ?? []
    at = end + 1
    if (id === undefined) continue
    const bytes = out.subarray(at, at + Number(size))
    at += Number(size) + 1
    if (at <= out.length) found.set(id, bytes)
  }
  return found
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

function run(folder: string, path: string, args: string[], input: string): Promise<Answer> {
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
    const git = execFile('git', ['--git-dir', folder, ...args], options, (error, out) => {
      const code = error ? error.code : 0
      done({ code: typeof code === 'number' ? code : undefined, out })
    })
    // It may end before it has read all.
    git.stdin?.on('error', () => undefined).end(input)
  })
}
