// What the `repos` of a token reach. Pure; the edge decides by it, and the console's page shows it.

/** Paths of repositories: exact, or a prefix that ends in `*`. */
export type Repos = readonly string[]

/** Whether they reach this repository. */
export const coversPath = (repos: Repos, path: string): boolean =>
  repos.some((repo) => (isPrefix(repo) ? path.startsWith(repo.slice(0, -1)) : repo === path))

/** The one repository that they name exactly; undefined when there is not exactly one. */
export function onlyPath(repos: Repos): string | undefined {
  const [repo, ...others] = repos
  return others.length === 0 && repo !== undefined && !isPrefix(repo) ? repo : undefined
}

/** Those that are named exactly, beside any prefix. */
export const exactPaths = (repos: Repos): string[] => repos.filter((repo) => !isPrefix(repo))

const isPrefix = (repo: string): boolean => repo.endsWith('*')
