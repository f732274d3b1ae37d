// Repositories by their paths: what one may be called, and which of them a token covers. Pure. The
// edge, the console, sidecars and the local system use it.

/** Paths of repositories: exact, or a prefix followed by `*`. */
export type Repos = readonly string[]

export const coversPath = (repos: Repos, path: string): boolean =>
  repos.some((repo) => (isPrefix(repo) ? path.startsWith(repo.slice(0, -1)) : repo === path))

/** What people call it: the last part of its path. */
export const lastPart = (path: string): string => path.split(/[/\\]/).findLast(Boolean) ?? path

export const exactPaths = (repos: Repos): string[] => repos.filter((repo) => !isPrefix(repo))

/** The one that is meant where none is named: the only exact one, whatever prefixes there are. */
export function onlyPath(repos: Repos): string | undefined {
  const [repo, ...others] = exactPaths(repos)
  return others.length === 0 ? repo : undefined
}

const isPrefix = (repo: string): boolean => repo.endsWith('*')

const MAX_BYTES = 512

/** Why no repository may have this path, in one sentence; undefined: one may. */
export function pathProblem(path: string): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (path === '' || /[\u0000-\u001f\u007f-\u009f]/.test(path)) {
    return 'The path is empty or holds control characters.'
  }
  if (new TextEncoder().encode(path).length > MAX_BYTES) {
    return `The path is longer than ${MAX_BYTES} bytes.`
  }
  // In a token's repos a final * makes a prefix: no grant could ever name this repository alone.
  if (path.endsWith('*')) return 'The path ends in *.'
  return undefined
}
