// What `signalbox` does for a person in a project: all of it in this process, on loopback, with
// simulated gateways.

import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import { routePath, routePrefixOf } from '../../worker/payments/webhooks/route-names.ts'
import { type DataFolder, openDataFolder } from '../data-folder.ts'
import { checkVariables, edgeUrl } from '../edge.ts'
import { aborted, type Closing, closeAll, listenForEnd } from '../end-requests.ts'
import { type Environment, edgeVariables, workerVariables } from '../environment.ts'
import {
  describePayments,
  gatewaySecrets,
  simulatedNames,
  simulatorVariables,
} from '../gateways.ts'
import { afterReady, beforeReady, readyLine } from '../greeting.ts'
import type { Home } from '../home.ts'
import { removeLocalJson, writeLocalJson } from '../local-json.ts'
import { claimPort, findPort, freePorts, LOOPBACK } from '../ports.ts'
import { openSecret } from '../secret.ts'
import { openSimulator } from '../simulator/open-simulator.ts'
import { storeNotices } from '../store-notices.ts'
import { startSweeping, unrefAfter } from '../sweeping.ts'
import { mintTokens, signInLink } from '../tokens.ts'
import { openBrowser } from './browser.ts'
import { deliveryNotices } from './delivery-notices.ts'
import { openLogFile } from './log-file.ts'
import type { BoardPlan } from './publish.ts'
import { databaseIn, openSystem, type Variables } from './system.ts'

export interface DevPlan {
  board: BoardPlan
  /** Folder of the project, which holds the board. */
  project: string
  /** It is the example, whose tasks we know by name. */
  isExample: boolean
  /** Undefined: the usual one, or any other where that is taken. */
  port: number | undefined
  /** The folder of all written files; absolute. */
  dataDir: string
  /** Its secret is in it. */
  trustsData: boolean
  /** Opens the link in a browser. */
  opens: boolean
  home: Home
  env: Environment
  /** signalbox.config.ts */
  file: SignalboxFile
  /** Of this program. */
  version: string
  /** Prints text for the person at the terminal; other programs read it too. */
  out(text: string): void
  /** Tells the person one sentence. */
  notice(sentence: string): void
}

const PORT = 8_787

/** Resolves with the exit code. Throws StartError; all of it has ended then. */
export async function dev(plan: DevPlan): Promise<number> {
  const data = await openDataFolder(plan, 'node', plan.notice)
  const asked = new AbortController()
  listenForEnd({ ask: () => asked.abort(), insist: () => process.exit(1) })
  const closing: Closing = [data.release]
  try {
    return await run({ ...plan, data, closing, signal: asked.signal })
  } catch (error) {
    if (asked.signal.aborted) return 0
    throw error
  } finally {
    const isAsked = asked.signal.aborted
    asked.abort()
    // First of all: a program that finds local.json may connect.
    await removeLocalJson(data.dir)
    await closeAll(closing)
    if (isAsked) plan.out('Ended.\n')
  }
}

interface Running extends DevPlan {
  data: DataFolder
  closing: Closing
  signal: AbortSignal
}

async function run(plan: Running): Promise<number> {
  const { board, data, home, env, file, closing, signal, out, notice } = plan
  const { repo, store } = board
  await removeLocalJson(data.dir)
  const secret = await openSecret(plan, notice)
  const port = await choosePort(plan)
  const url = edgeUrl(port)
  const log = openLogFile(data.logFile('signalbox'))
  closing.push(log.close)

  const secrets = gatewaySecrets(secret)
  const callbackOf = (key: string) =>
    `${url}${routePath('payments.webhook', routePrefixOf(file), key)}`
  const [free = 0] = await freePorts(1, port)
  const simulator = await openSimulator(simulatorVariables(secrets, { port: free, callbackOf }))
  closing.push(simulator.close)

  const database = databaseIn(data.dir)
  const places = { edge: url, database, simulator: simulator.url, databaseToken: '' }
  const variables: Variables = {
    ...edgeVariables(env, file, { secret, ...places }),
    HOST: LOOPBACK,
    PORT: String(port),
  }
  checkVariables(variables, file, { embeds: true })
  const onStore = storeNotices(notice)
  const onDelivery = deliveryNotices(describePayments(variables).eventsUrl ?? '', notice)
  const system = await openSystem({
    ...{ data, home, variables, file, board, version: plan.version, notice, signal },
    log(...line) {
      log.edge(...line)
      onDelivery(...line)
    },
    sidecarLog(level, event, fields = {}) {
      log.sidecar(level, event, fields)
      onStore(event, fields)
    },
  })
  closing.push(system.close)
  const asked = aborted(signal)
  await Promise.race([system.ready, asked])
  if (signal.aborted) return 0

  const tokens = await mintTokens(secret, repo, Date.now())
  startSweeping({
    ...{ edge: url, token: tokens.payments, signal, after: unrefAfter },
    fetch: (input, init) => system.edge.fetch(new Request(input, init)),
  })
  const { databaseToken } = places
  const at = { url, path: repo, database, databaseToken, simulator: simulator.url }
  const local = { ...at, tokens, ...describePayments(variables) }
  await writeLocalJson(data.dir, local)
  const link = await signInLink(secret, local, Date.now())
  const greeting = {
    ...{ local, link, isExample: plan.isExample, host: 'node' },
    board: { dir: plan.project, layout: store.layout, tasks: system.board?.tasks() ?? 0 },
    dataDir: data.dir,
    trustsData: plan.trustsData,
    simulated: simulatedNames(workerVariables(env)),
    ...{ platform: process.platform, cwd: process.cwd() },
  }
  out(`${beforeReady(greeting)}${readyLine(url)}\n${afterReady(greeting)}`)
  if (plan.opens) openBrowser(link, (why) => notice(`No browser could be opened (${why}).`))

  await Promise.race([asked, system.failed])
  return 0
}

/** The port was not given, so another one may be used: two boards can run side by side. */
async function choosePort({ port, data, signal, notice }: Running): Promise<number> {
  const { inherited } = data
  if (port !== undefined) return await claimPort({ port, inherited, signal })
  const usual = await findPort(PORT)
  if (usual.ok) return usual.port
  notice(`Port ${PORT} is taken, so another one is used.`)
  return await claimPort({ port: 0, inherited, signal })
}
