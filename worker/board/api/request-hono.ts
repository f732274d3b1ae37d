// What every route of a board reads of its request first: the repository, and the body.

import type { Context } from 'hono'
import { type ApiEnv, requireScope, type Scope } from '../../shared/access.ts'
import { readJson } from '../../shared/body-limit-hono.ts'
import type { Checked } from '../../shared/fields.ts'
import { Problem } from '../../shared/problem.ts'
import { refuseRepeated } from '../../shared/query.ts'
import { coversPath, onlyPath, pathProblem } from '../../shared/repos.ts'

/**
 * The name of the repository, checked in the order: well-formed, in reach, in scope. Throws a
 * Problem.
 */
export function pathOf(c: Context<ApiEnv>, scope: Scope): string {
  refuseRepeated(c.req.url)
  const grant = c.get('grant')
  const path = c.req.query('path') ?? onlyPath(grant.repos)
  if (path === undefined) {
    throw new Problem(
      'invalid_path',
      'The query parameter path is needed: the token names no single repository.',
    )
  }
  const problem = pathProblem(path)
  if (problem !== undefined) throw new Problem('invalid_path', problem)
  if (!coversPath(grant.repos, path))
    throw new Problem('forbidden', 'The token is for another repository.')
  requireScope(grant, scope)
  return path
}

/** How a query is read; an empty filter filters by nothing. */
export const QUERY_RULES = { reason: 'invalid_request', isEmptyMissing: true } as const

/** Throws a Problem. */
export async function bodyOf<T>(
  c: Context<ApiEnv>,
  check: (body: unknown) => Checked<T>,
): Promise<T> {
  const body = await readJson(c)
  if (body === undefined) throw new Problem('invalid_request', 'The body is not JSON.')
  const checked = check(body)
  if (!checked.ok) throw new Problem('invalid_request', checked.error)
  return checked.value
}

export const unpublished = () =>
  new Problem('unknown_repository', 'No sidecar has published this repository yet.')
