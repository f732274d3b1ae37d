// A system of one machine, as `signalbox` and `signalbox start` run it: it signs by the secret of
// its data folder, keeps its ports, and simulates the gateways that the environment does not set.

import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import type { LocalJson, LocalTokens } from '../data/local-json.ts'
import { openSecret } from '../data/secret.ts'
import type { Running, RunPlan } from '../run-in.ts'
import { checkVariables, edgeVariables, gatewaysIn } from './environment.ts'
import { describePayments, simulatedCallback } from './gateways.ts'
import { describeNotices } from './notices.ts'
import { claimPorts, loopbackUrl, type PortPlan } from './ports.ts'
import { openSharing, type SharePlan } from './share.ts'
import { mintTokens } from './tokens.ts'

/** A user who tries things out is waiting: more often than the minute of a deployment. */
export const SWEEP_EVERY_MS = 10_000

interface LocalPlan extends Pick<RunPlan, 'location' | 'notice'>, Pick<PortPlan, 'port'> {
  /** signalbox.config.ts */
  file: SignalboxFile
  /** What its tokens cover. */
  repos: readonly string[]
  /** False: payments alone. */
  hasBoards: boolean
  /** Undefined: it is not shared. */
  share: SharePlan['what'] | undefined
}

export type LocalSystem = Awaited<ReturnType<typeof prepareLocal>>

/** What all of its parts have in common, before any runs. Throws StartError. */
export async function prepareLocal(
  { data, defer, signal }: Pick<Running, 'data' | 'defer' | 'signal'>,
  { location, file, repos, hasBoards, port, share, notice }: LocalPlan,
) {
  const secret = await openSecret(location, notice)
  // The edge gets the other ports when it starts, so all are found before anything is started.
  const ports = await claimPorts({ data, port, notice, signal })
  const url = loopbackUrl(ports.edge)
  const { payments, ...ofBoards } = await mintTokens(secret, repos, Date.now())
  const tokens: LocalTokens = { ...(hasBoards && ofBoards), payments }
  const sharing = share && (await openSharing({ location, secret, tokens, ports, what: share }))
  if (sharing) defer(sharing.close)
  const gateways = gatewaysIn(location.env, file)
  const simulator = {
    url: loopbackUrl(ports.simulator),
    port: ports.simulator,
    dataDir: data.dir,
    sharedUrl: sharing?.simulator,
    callbackOf: simulatedCallback(url, file, gateways),
  }
  return { location, file, secret, url, ports, tokens, sharing, gateways, simulator }
}

/**
 * The variables of its edge, and what local.json has of it. `embeds`: its database may be a file.
 * Throws StartError.
 */
export function describeLocal(
  { location, file, secret, url, tokens, sharing, simulator }: LocalSystem,
  database: Pick<LocalJson, 'database' | 'databaseToken'>,
  { embeds = false } = {},
) {
  const addresses = { ...database, simulator: simulator.url }
  const variables = edgeVariables(location.env, file, { secret, edge: url, ...addresses })
  checkVariables(variables, file, { embeds })
  const { shared } = sharing ?? {}
  const local = {
    url,
    ...addresses,
    tokens,
    ...describePayments(variables),
    ...describeNotices(variables),
    ...(shared && { shared }),
  } satisfies Omit<LocalJson, 'path' | 'boards'>
  return { variables, local }
}
