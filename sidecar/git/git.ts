// The only calls of the program git: what two trees have in common, and what their commits changed.
// None of them runs what the repository's own configuration names, and a missing object is not
// fetched.

import { execFile } from 'node:child_process'
import { parse } from 'node:path'
import { setImmediate as otherTurns } from 'node:timers/promises'
import { findProgram, isProgram, withAbsolutePath } from '../../worker/shared/programs-node.ts'
import { logReader } from './history.ts'

const TIMEOUT_MS = 5_000
const MAX_BYTES = 64 << 20

/** No HOME: a user's configuration is not read either. */
const environment = (path: string): Record<string, string> => ({
  ...withAbsolutePath({ PATH: path }),
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

export type Git = ReturnType<typeof openGit>

/** Without a branch, it is detached. */
export interface CheckedOut {
  head: string
  branch?: string
}

/** Which files: those in or below these folders, from the top of the tree; an empty name: all. */
export interface FilesOf {
  folders: readonly string[]
  isOfBoard(path: string): boolean
}

/** Of which files. */
export interface LogOf {
  /** From the top of the tree; empty: all. */
  folder: string
  isOfBoard: (path: string) => boolean
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const EVERY: FilesOf = { folders: [''], isOfBoard: () => true }
const FILE = /^100\d{3} blob ([0-9a-f]+)\t(.+)$/s

/**
 * For a common git folder; `path` is where programs are looked for, as in `PATH`. Calls run one
 * after the other, since each may read a whole history.
 */
export function openGit(folder: string, path: string) {
  const { platform } = process
  const program = findGit({ platform, path }, isProgram)
  const env = environment(path)
  let last: Promise<unknown> = Promise.resolve()
  const give = (input: string, ...args: string[]): Promise<Answer> => {
    if (program === undefined) return Promise.resolve(NONE)
    const next = last.then(() => run(program, env, ['--git-dir', folder, ...args], input))
    last = next
    return next
  }
  const ask = (...args: string[]): Promise<Answer> => give('', ...args)
  const call = async (...args: string[]): Promise<Buffer | undefined> => {
    const { code, out } = await ask(...args)
    return code === 0 ? out : undefined
  }
  return {
    /** Object ids of all merge bases of two `HEAD`s. Undefined: git did not answer. */
    async mergeBases(one: string, other: string): Promise<string[] | undefined> {
      const { code, out } = await ask('merge-base', '--all', one, other)
      // By 1 it says that there is none.
      if (code !== 0 && code !== 1) return undefined
      const lines = out.toString().split('\n')
      return lines.filter((line) => OBJECT_ID.test(line))
    },
    /** What a `HEAD` or a branch is at. Undefined: it has no commit yet, or git did not answer. */
    async checkedOut(head: string): Promise<CheckedOut | undefined> {
      const out = await call('rev-parse', head, '--symbolic-full-name', head)
      const [id = '', name = ''] = out?.toString().split('\n') ?? []
      const [, branch] = /^refs\/heads\/(.+)/.exec(name) ?? []
      return OBJECT_ID.test(id) ? { head: id, ...(branch !== undefined && { branch }) } : undefined
    },
    /** Whether a `HEAD` has this commit, or one after it. Undefined: git did not answer. */
    async goesOn(commit: string, head: string): Promise<boolean | undefined> {
      const { code } = await ask('merge-base', '--is-ancestor', commit, head)
      // Of a commit that is not there any more it ends with another code.
      return code === undefined ? undefined : code === 0
    },
    /** Path to blob id, of the files of a commit; links and submodules are left out. */
    async files(commit: string, { folders, isOfBoard }: FilesOf = EVERY) {
      if (!OBJECT_ID.test(commit)) return undefined
      const within = folders.includes('') ? [] : folders
      const out = await call('ls-tree', '-r', '-z', '--full-tree', '--', commit, ...within)
      if (!out) return undefined
      const files = new Map<string, string>()
      await eachPart(out, (line) => {
        const [, id, path] = FILE.exec(line) ?? []
        if (id && path && isOfBoard(path)) files.set(path, id)
      })
      return files
    },
    blob: async (id: string) =>
      OBJECT_ID.test(id) ? await call('cat-file', 'blob', id) : undefined,
    /** A file of a commit. */
    file: (commit: string, path: string) => call('cat-file', 'blob', `${commit}:${path}`),
    /** Those of them that git gave within its bounds, by id. */
    async blobs(ids: readonly string[]): Promise<Map<string, Buffer>> {
      if (ids.length === 0) return new Map()
      // What came before it was stopped counts.
      const { out } = await give(`${ids.join('\n')}\n`, 'cat-file', '--batch')
      return parseBatch(out)
    },
    /** The newest commit that all of these have in common. Undefined: none, or no answer. */
    async common(commits: readonly string[]): Promise<string | undefined> {
      const out = await call('merge-base', '--octopus', ...commits)
      const id = out?.toString().trim()
      return id !== undefined && OBJECT_ID.test(id) ? id : undefined
    },
    /** By first parents, the newest first: of `head`, without those of `before`. */
    async log(head: string, before: readonly string[], { folder, isOfBoard }: LogOf) {
      const range = [head, '--not', ...before]
      // `--sparse`: commits that changed nothing in the folder are listed, too.
      const within = folder === '' ? [] : ['--sparse', '--', folder]
      const out = await call(...PLAIN, 'log', ...RAW, '--format=%H %ct %P', ...range, ...within)
      if (!out) return undefined
      const { take, commits } = logReader(isOfBoard)
      await eachPart(out, take)
      return commits()
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
 * The program git, by its whole path; undefined: there is none, or no more than the offer to
 * install it.
 * @forTests On another system.
 */
export function findGit(
  { platform, path }: { platform: string; path: string },
  isProgramAt: typeof isProgram,
): string | undefined {
  const name = platform === 'win32' ? 'git.exe' : 'git'
  const found = findProgram(name, path, isProgramAt)
  const isOffer = platform === 'darwin' && found === '/usr/bin/git'
  return isOffer && !DEVELOPER_TOOLS.some(isProgramAt) ? undefined : found
}

interface Answer {
  /** Undefined: it did not end by itself, or is not there. */
  code: number | undefined
  out: Buffer
}

const NONE: Answer = { code: undefined, out: Buffer.alloc(0) }

/** In the topmost folder: in a repository's own, git would look for more than it is given. */
function run(
  program: string,
  env: Record<string, string>,
  args: string[],
  input: string,
): Promise<Answer> {
  const options = {
    env,
    cwd: parse(program).root,
    encoding: 'buffer',
    timeout: TIMEOUT_MS,
    maxBuffer: MAX_BYTES,
    killSignal: 'SIGKILL',
  } as const
  return new Promise((done) => {
    const git = execFile(program, args, options, (error, out) => {
      const code = error ? error.code : 0
      done({ code: typeof code === 'number' ? code : undefined, out })
    })
    // It may end before it has read all.
    git.stdin?.on('error', () => undefined).end(input)
  })
}

/** Longest work before others get their turn: a hostile repository has half a million paths. */
const SLICE_MS = 2
/** The clock is read once in so many. */
const CLOCK_PARTS = 32

/** Each text that a zero byte ends. */
async function eachPart(out: Buffer, take: (part: string) => void): Promise<void> {
  let since = performance.now()
  let from = 0
  for (let n = 1; from < out.length; n++) {
    const zero = out.indexOf(0, from)
    const end = zero === -1 ? out.length : zero
    take(out.toString('utf8', from, end))
    from = end + 1
    if (n % CLOCK_PARTS !== 0 || performance.now() - since < SLICE_MS) continue
    await otherTurns()
    since = performance.now()
  }
}
