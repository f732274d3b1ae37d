// Reads the settings of payments from signalbox.config.ts and the environment, and names every
// fault.

import * as z from 'zod'
import { isLoopback, isSafeForSecrets } from '../../shared/loopback.ts'
import { addressProblem } from '../../shared/outgoing.ts'
import { readWhsecs } from '../../shared/standard-webhook.ts'
import type { Rules } from '../acts/act.ts'
import type { OperationSettings } from '../charging/operation.ts'
import type { SignalboxFile } from '../define-config.ts'
import { isEventName } from '../domain/status.ts'
import { DAY_MS } from '../domain/time.ts'
import type { Middleware } from '../facade.ts'
import type { AnyGateway, Driver } from '../gateways/gateway.ts'
import { INSTALLATION } from '../ledger/libsql/ledger-row-libsql.ts'
import type { Endpoint, Listeners } from '../outbox/deliver.ts'
import { routePrefixOf } from '../webhooks/route-names.ts'
import { driversOf, gatewaysOf, settingsOf } from './gateway-settings.ts'

/** Facts about a configured gateway that its driver does not know. */
interface Account {
  /** Its driver's name in signalbox.config.ts. */
  driver: string
  /**
   * Its `base_url` is PAYMENT_SIMULATOR_URL, where charges use no real money. Loopback alone may
   * be a tunnel to a real gateway.
   */
  isLocal: boolean
}

export interface PaymentsConfig {
  /** In the order of the file. */
  gateways: ReadonlyMap<string, AnyGateway>
  /** By the same keys. */
  accounts: ReadonlyMap<string, Account>
  /** Those whose `base_url` is not on loopback: what is paid there is money. */
  realGateways: ReadonlySet<string>
  /** Without slashes around it. */
  routePrefix: string
  /** The outermost first. `api`: our own. */
  middleware: readonly (Middleware | 'api')[]
  toleranceMs: number
  /** How long the keys of old events are kept; undefined: for ever. */
  eventKeysMs: number | undefined
  /** What charges, refunds and checks are given. */
  operations: OperationSettings
  /** What acts are given. */
  rules: Omit<Rules, 'subscribers'>
  listeners: Listeners
  /** Where events are posted, durable ones and others. */
  endpoint: Endpoint | undefined
  database: { url: string; authToken?: string }
  /** Which database it must be, by its id. Undefined: any. */
  installation: string | undefined
  /** Where gateways reach us, for those that get a callback URL with each charge. */
  publicUrl: string | undefined
  /** Where Cloudflare should run the ledger: one of its location hints. */
  ledgerLocation: (typeof LOCATION_HINTS)[number] | undefined
}

/** Cloudflare's location hints for an object. */
const LOCATION_HINTS = ['wnam', 'enam', 'sam', 'weur', 'eeur', 'apac', 'oc', 'afr', 'me'] as const

/** The URL of a database that a server has, and not a file. */
export const isServed = (url: string): boolean => /^(libsql|https?):\/\//.test(url)

const TOLERANCE = 'tolerance_seconds (PAYMENT_TOLERANCE_SECONDS)'
const KEYS_DAYS = 'PAYMENT_EVENT_KEYS_DAYS'
const MISMATCH = 'on_amount_mismatch (PAYMENT_ON_AMOUNT_MISMATCH)'
const KEY = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/** What only some hosts can do. */
export interface HostAbilities {
  /** A database in a file, as `file:PATH`. */
  embeds?: boolean
}

export interface Fault {
  clause: string
  /** The key of the only gateway that it is about. */
  gateway: string | undefined
}

interface ReadPayments {
  /** With any, none of `payments` is served: a doctor shows what is right of it. */
  faults: readonly Fault[]
  /** Undefined: no gateway and no database is configured, so there are no payments here. */
  payments: PaymentsConfig | undefined
}

export function readPayments(
  env: Readonly<Record<string, unknown>>,
  file: SignalboxFile,
  host: HostAbilities = {},
): ReadPayments {
  const reader = new Reader(env)
  const payments = configOf(reader, file, host)
  return { faults: reader.faults, payments }
}

/** Reads variables, and keeps every fault that is found on the way. */
class Reader {
  readonly faults: Fault[] = []
  readonly #env: Readonly<Record<string, unknown>>

  constructor(env: Readonly<Record<string, unknown>>) {
    this.#env = env
  }

  fault(clause: string, gateway?: string): void {
    this.faults.push({ clause, gateway })
  }

  /** Undefined: it is not set, or empty. */
  readonly text = (name: string): string | undefined => {
    const value = this.#env[name]
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
  }

  httpUrl(name: string): string | undefined {
    const value = this.text(name)
    if (value === undefined) return undefined
    if (!(URL.canParse(value) && /^https?:$/.test(new URL(value).protocol))) {
      this.fault(`${name} is not an http(s) URL`)
      return undefined
    }
    return value
  }

  /** `what`: such as "number of days". */
  number(name: string, given: number, what: string, above: number): number {
    if (Number.isFinite(given) && given > above) return given
    this.fault(`${name} must be a ${what} above ${above}`)
    return Number.NaN
  }

  /** Undefined: nothing was given, or something else. */
  oneOf<Value extends string>(
    name: string,
    given: string | undefined,
    values: readonly Value[],
  ): Value | undefined {
    const found = values.find((value) => value === given)
    if (given !== undefined && found === undefined) {
      const which = values.length === 2 ? values.join(' or ') : `one of ${values.join(', ')}`
      this.fault(`${name} must be ${which}`)
    }
    return found
  }
}

function configOf(
  reader: Reader,
  file: SignalboxFile,
  { embeds = false }: HostAbilities,
): PaymentsConfig | undefined {
  const { text } = reader
  const payments = sectionOf(file, reader)
  const { gateways = {}, webhooks = {}, middlewares = {}, listeners = {}, references } = payments
  const seconds = webhooks.tolerance_seconds ?? Number(text('PAYMENT_TOLERANCE_SECONDS') ?? 300)
  const mismatch = webhooks.on_amount_mismatch ?? text('PAYMENT_ON_AMOUNT_MISMATCH')
  const drivers = driversOf(file)
  const gatewayMap = new Map<string, AnyGateway>()
  const accounts = new Map<string, Account>()
  const realGateways = new Set<string>()
  for (const [key, entry] of Object.entries(gateways)) {
    const read = readGateway(key, entry, drivers[entry.driver], reader)
    if (!read) continue
    gatewayMap.set(key, read.gateway)
    accounts.set(key, read.account)
    if (read.isReal) realGateways.add(key)
  }
  const database = readDatabase(reader, gatewayMap.size > 0, embeds)
  if (!database) return undefined
  // A tunnel may lead to webhooks alone.
  const publicUrl = reader.httpUrl('PAYMENT_PUBLIC_URL') ?? text('SIGNALBOX_PUBLIC_URL')

  return {
    gateways: gatewayMap,
    accounts,
    realGateways,
    routePrefix: readPrefix(payments, reader),
    middleware: readMiddleware(webhooks.middleware ?? ['api'], middlewares, reader),
    toleranceMs: reader.number(TOLERANCE, seconds, 'number of seconds', 0) * 1_000,
    eventKeysMs: readKeysMs(reader),
    operations: { onMismatch: reader.oneOf(MISMATCH, mismatch, ['log', 'reject']) ?? 'log' },
    rules: {
      references:
        reader.oneOf('payments.references', references, ['shared', 'per-gateway']) ?? 'shared',
    },
    listeners: readListeners(listeners, reader),
    endpoint: readEndpoint(reader),
    database,
    installation: readInstallation(reader),
    publicUrl: publicUrl?.replace(/(?<!\/)\/+$/, ''),
    ledgerLocation: reader.oneOf(
      'PAYMENT_LEDGER_LOCATION',
      text('PAYMENT_LEDGER_LOCATION'),
      LOCATION_HINTS,
    ),
  }
}

type Payments = NonNullable<SignalboxFile['payments']>
type KeysOf<Part> = Record<keyof Part, z.ZodType>

const OBJECT = 'must be an object'
const string = z.string('must be a text').optional()
const object = z.looseObject({}, OBJECT)
/** Checked where it is read. */
const unchecked = z.unknown().optional()

/** Its shape: in JavaScript no type holds it. */
const FILE = z.strictObject(
  {
    fetch: unchecked,
    notices: unchecked,
    payments: z
      .strictObject(
        {
          gateways: z.record(z.string(), z.record(z.string(), string, OBJECT), OBJECT).optional(),
          drivers: z.record(z.string(), object, OBJECT).optional(),
          references: unchecked,
          webhooks: z
            .strictObject(
              {
                route_prefix: string,
                middleware: z.array(z.string('must be a text'), 'must be a list').optional(),
                tolerance_seconds: unchecked,
                on_amount_mismatch: unchecked,
              } satisfies KeysOf<NonNullable<Payments['webhooks']>>,
              OBJECT,
            )
            .optional(),
          middlewares: object.optional(),
          listeners: object.optional(),
        } satisfies KeysOf<Payments>,
        OBJECT,
      )
      .optional(),
  } satisfies KeysOf<SignalboxFile>,
  OBJECT,
)

/** Empty if it cannot be read. A misspelled setting would silently have no effect. */
function sectionOf(file: SignalboxFile, reader: Reader): Payments {
  const issues = FILE.safeParse(file).error?.issues ?? []
  let isReadable = true
  for (const issue of issues.toSorted((a, b) => a.path.length - b.path.length)) {
    const where = issue.path.join('.') || 'signalbox.config.ts'
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) reader.fault(`${where}: there is no setting ${key}`)
    } else {
      const [, part, key] = issue.path
      reader.fault(`${where} ${issue.message}`, part === 'gateways' ? key?.toString() : undefined)
      isReadable = false
    }
  }
  return (isReadable && file.payments) || {}
}

/** The prefixes of the configured gateways' variables, set or not. */
export function gatewayPrefixes(file: SignalboxFile): string[] {
  const drivers = driversOf(file)
  return gatewaysOf(file).flatMap(
    ([, { driver, env_prefix }]) => env_prefix ?? drivers[driver]?.envPrefix ?? [],
  )
}

/** Also undefined when no required setting is set: an unused gateway is not an error. */
function readGateway(
  key: string,
  entry: { driver: string; env_prefix?: string; [setting: string]: string | undefined },
  driver: Driver | undefined,
  reader: Reader,
): { gateway: AnyGateway; account: Account; isReal: boolean } | undefined {
  const where = `payments.gateways.${key}`
  const fault = (clause: string) => reader.fault(clause, key)
  if (!KEY.test(key)) fault(`${where}: a key may have only letters, digits, - and _`)
  if (!driver) {
    fault(`${where}: there is no driver ${entry.driver}`)
    return undefined
  }
  const { driver: _, env_prefix: prefix = driver.envPrefix, ...own } = entry
  for (const name of Object.keys(own)) {
    if (!(name in driver.settings)) fault(`${where}: ${entry.driver} has no setting ${name}`)
  }
  const { settings, variables, required, missing } = settingsOf(driver, prefix, own, reader.text)
  if (missing.length === required.length) return undefined
  for (const name of missing) fault(`${variables[name]} is missing (${where})`)
  if (missing.length > 0) return undefined
  const problems = [...(driver.check?.(settings) ?? []), ...exposed(settings.base_url)]
  for (const problem of problems) fault(`${where} (${prefix}*): ${problem}`)
  if (problems.length > 0) return undefined
  const originOf = (url = '') => URL.parse(url)?.origin
  const simulator = originOf(reader.text('PAYMENT_SIMULATOR_URL'))
  const isLocal = simulator !== undefined && originOf(settings.base_url) === simulator
  const account = { driver: entry.driver, isLocal }
  const isReal = !isLoopback(URL.parse(settings.base_url ?? '')?.hostname ?? '')
  return { gateway: driver.create(key, settings), account, isReal }
}

/** Others on the network would read the credentials. */
function exposed(base = ''): string[] {
  const url = URL.parse(base)
  return url?.protocol === 'http:' && !isSafeForSecrets(url)
    ? ['base_url must be https, or on this machine']
    : []
}

/** Undefined: there is none, and no gateway that needs one. */
function readDatabase(
  reader: Reader,
  hasGateways: boolean,
  embeds: boolean,
): PaymentsConfig['database'] | undefined {
  const url = reader.text('LIBSQL_URL')
  if (url === undefined && !hasGateways) return undefined
  if (url === undefined) reader.fault('LIBSQL_URL is missing: payments are kept in a database')
  else if (!isServed(url) && !(embeds && /^file:./.test(url))) {
    const kinds = embeds ? 'libsql:, http(s): or file:' : 'libsql: or http(s):'
    reader.fault(`LIBSQL_URL is not a ${kinds} URL`)
  }
  const authToken = reader.text('LIBSQL_AUTH_TOKEN')
  return { url: url ?? '', ...(authToken !== undefined && { authToken }) }
}

/** Events themselves are kept for 90 days, so their keys are kept for longer. */
function readKeysMs(reader: Reader): number | undefined {
  const days = reader.text(KEYS_DAYS)
  if (days === undefined) return undefined
  const whole = /^\d{1,5}$/.test(days) ? Number(days) : Number.NaN
  return reader.number(KEYS_DAYS, whole, 'whole number of days', 90) * DAY_MS
}

function readPrefix(payments: Payments, reader: Reader): string {
  const prefix = routePrefixOf({ payments })
  if (!/^[\w-]+(\/[\w-]+)*$/.test(prefix) || /^api(\/|$)/.test(prefix)) {
    reader.fault('payments.webhooks.route_prefix must be a plain path that is not below api/')
  }
  return prefix
}

function readMiddleware(
  names: readonly string[],
  own: Readonly<Record<string, Middleware>>,
  reader: Reader,
): (Middleware | 'api')[] {
  return names.flatMap((name) => {
    const found = own[name] ?? (name === 'api' ? name : undefined)
    if (!found) reader.fault(`payments.webhooks.middleware: there is no middleware ${name}`)
    return found ?? []
  })
}

function readInstallation(reader: Reader): string | undefined {
  const id = reader.text('PAYMENT_INSTALLATION')
  if (id !== undefined && !INSTALLATION.test(id)) {
    reader.fault(
      'PAYMENT_INSTALLATION must be the id of a database: 32 digits of 0 to 9 and a to f',
    )
  }
  return id
}

function readListeners(listeners: Listeners, reader: Reader): Listeners {
  for (const name of Object.keys(listeners)) {
    if (!isEventName(name)) {
      reader.fault(`payments.listeners: there is no event ${name}`)
    }
  }
  return listeners
}

function readEndpoint(reader: Reader): Endpoint | undefined {
  const url = eventsUrl(reader)
  const { secrets, problem } = readWhsecs(reader.text('PAYMENT_EVENTS_SECRET'))
  const types = reader
    .text('PAYMENT_EVENTS_TYPES')
    ?.split(/[\s,]+/)
    .filter(Boolean)
  for (const name of types ?? []) {
    if (!isEventName(name)) reader.fault(`PAYMENT_EVENTS_TYPES: there is no event ${name}`)
  }
  if (url === undefined) return undefined
  if (secrets.length === 0) reader.fault('PAYMENT_EVENTS_SECRET is missing: events are sent signed')
  if (problem !== undefined) reader.fault(`PAYMENT_EVENTS_SECRET: ${problem}`)
  return { url, secrets, ...(types && { types: new Set(types.filter(isEventName)) }) }
}

/** Events contain what was paid, and for which order. */
function eventsUrl(reader: Reader): string | undefined {
  const value = reader.text('PAYMENT_EVENTS_URL')
  const problem = value === undefined ? undefined : addressProblem(value)
  if (problem !== undefined) reader.fault(`PAYMENT_EVENTS_URL ${problem}`)
  return URL.canParse(value ?? '') ? value : undefined
}
