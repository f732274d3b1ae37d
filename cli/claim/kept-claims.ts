// The claims that this user holds, one file each in the user's state folder: so that the next
// command finds its own, and a running Signalbox the process that holds it.

import { createHash } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { jsonIn } from '../../worker/shared/json.ts'
import { textIn } from '../../worker/shared/plain-file-node.ts'
import { makePrivateFolder, replacePrivateFile } from '../../worker/shared/private-file-node.ts'
import { stateFolder } from '../../worker/shared/user-folders-node.ts'
import type { Environment } from '../context.ts'
import { UsageError } from '../usage.ts'

const RELEASE = z.object({
  outcome: z.enum(['done', 'abandoned']),
  summary: z.string().exactOptional(),
})

const KEPT = z.object({
  /** The secret. */
  claim: z.string(),
  actor: z.string(),
  /** The repository. */
  board: z.string(),
  /** Whose edge has it, as Target has it: a data folder keeps its name when the port is another. */
  at: z.string(),
  /** Empty, and 0, until the edge has answered. */
  task: z.string(),
  generation: z.int(),
  ttlMs: z.number(),
  /** The linked worktree in which it was made. */
  tree: z.string().exactOptional(),
  /** The own git folder of the tree in which it was made, linked or not. */
  gitFolder: z.string().exactOptional(),
  /** Who works: when it is gone, so is the claim. Absent: the lease alone decides. */
  process: z
    .object({ pid: z.int(), startedAt: z.string(), boot: z.string(), namespace: z.string() })
    .exactOptional(),
  /** How its holder ended it while no edge answered. */
  release: RELEASE.exactOptional(),
})

export type KeptClaim = z.infer<typeof KEPT>
export type Release = z.infer<typeof RELEASE>

/** Throws UsageError where the user has no state folder. */
function claimsFolder(env: Environment): string {
  const state = stateFolder(env)
  if (state === undefined) {
    throw new UsageError('A claim is kept in the state folder of the user, and HOME names none.')
  }
  return join(state, 'claims')
}

/** An actor may hold several, so each has a file of its own: a refusal of one loses no other. */
export const fileOf = (env: Environment, { claim }: Pick<KeptClaim, 'claim'>): string =>
  join(claimsFolder(env), `${createHash('sha256').update(claim).digest('hex').slice(0, 32)}.json`)

/** For its owner alone: with the secret, anybody can end the claim. */
export async function keepClaim(env: Environment, kept: KeptClaim): Promise<void> {
  makePrivateFolder(claimsFolder(env))
  await replacePrivateFile(fileOf(env, kept), `${JSON.stringify(kept)}\n`)
}

export const forgetClaim = (env: Environment, kept: Pick<KeptClaim, 'claim'>): Promise<void> =>
  rm(fileOf(env, kept), { force: true })

/** The newest first. What cannot be read is passed over. */
export async function keptClaims(env: Environment): Promise<KeptClaim[]> {
  const dir = claimsFolder(env)
  const names = await readdir(dir).catch(() => [])
  const read = await Promise.all(
    names
      .filter((name) => name.endsWith('.json'))
      .map(async (name) => KEPT.safeParse(jsonIn(await textIn(join(dir, name)))).data),
  )
  return read.filter((kept) => kept !== undefined).sort((a, b) => b.generation - a.generation)
}
