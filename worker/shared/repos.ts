// Which repositories the `repos` claim of a token covers. Pure; the edge and the console use it.

/** Paths of repositories: exact, or a prefix followed by `*`. */
export type Repos = readonly string[]

export const coversPath = (repos: Repos, path: string): boolean =>
  repos.some((repo) => (isPrefix(repo) ? path.startsWith(repo.slice(0, -1)) : repo === path))

/** The repository, if `repos` is exactly one exact path. */
export function onlyPath(repos: Repos): string | undefined {
  const [repo, ...others] = repos
  return others.length === 0 && repo !== undefined && !isPrefix(repo) ? repo : undefined
}

export const exactPaths = (repos: Repos): string[] => repos.filter((repo) => !isPrefix(repo))

const isPrefix = (repo: string): boolean => repo.endsWith('*')
