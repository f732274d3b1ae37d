// Reads the worker's environment variables, with payments/config/ and shared/auth-config.ts. What
// variables there are is in shared/variables.ts.

import type { DirectoryLimits } from './board/directory/directory.ts'
import { readSenderSettings, type SenderSettings } from './board/notices/notice-sender.ts'
import { type BoardVariables, readBoardVariables } from './board/repository/board-variables.ts'
import { type StreamRoom, streamRoom } from './board/streams/stream-room.ts'
import {
  type HostAbilities,
  type PaymentsConfig,
  readPayments,
} from './payments/config/payments-config.ts'
import type { SignalboxFile } from './payments/define-config.ts'
import { type AuthConfig, readAuth } from './shared/auth-config.ts'
import { noticeProblems } from './shared/notice-schemas.ts'
import type { LIMITS } from './shared/variables.ts'

export type Environment = Record<string, unknown>

export interface Config {
  auth: AuthConfig
  /** Origins of pages that may call the API, and that may write with a session cookie. */
  allowedOrigins: string[]
  /** The origin under which browsers reach the edge, where requests do not show it. */
  publicUrl: string | undefined
  /** For the streams of one repository. */
  room: StreamRoom
  directory: DirectoryLimits
  /** What each board is opened with. */
  board: BoardVariables
  /** What notices are sent with. */
  notices: SenderSettings
  /** Undefined: neither a gateway nor a database is configured. */
  payments: PaymentsConfig | undefined
}

/** Names every missing or malformed variable in one message. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly code = 'misconfigured'
}

type Limit = keyof typeof LIMITS

const DEFAULT_MAX_STREAMS = 10_000
const DEFAULT_MAX_BOARDS = 10_000
/** A list reads every row. */
const MAX_BOARDS_ALLOWED = 100_000
/** Cloudflare's limit of sockets per Durable Object. Each isolate with a stream needs one. */
const MAX_STREAMS_ALLOWED = 32_768

/** `file`: what signalbox.config.ts exports. */
export function readConfig(
  env: Environment,
  file: SignalboxFile = {},
  host: HostAbilities = {},
): Config {
  const wrong: string[] = []
  const words = (name: string) => {
    const value = env[name]
    return typeof value === 'string' ? value.split(/\s+/).filter(Boolean) : []
  }
  const origins = (name: string): string[] => {
    const all = words(name)
    for (const text of all) {
      const origin = URL.parse(text)?.origin
      if (origin === undefined) wrong.push(`${name} is not a URL`)
      else if (origin !== text) wrong.push(`${name} must hold origins like ${origin}`)
    }
    return all
  }
  const allowedOrigins = origins('ALLOWED_ORIGINS')
  const [publicUrl] = origins('SIGNALBOX_PUBLIC_URL')
  const count = (name: Limit, fallback: number, max: number): number => {
    const number = Number(words(name)[0] ?? fallback)
    if (!Number.isInteger(number) || number < 1 || number > max) {
      wrong.push(`${name} must be a whole number from 1 to ${max}`)
    }
    return number
  }
  const room = streamRoom(count('MAX_STREAMS', DEFAULT_MAX_STREAMS, MAX_STREAMS_ALLOWED))
  const directory = { maxBoards: count('MAX_BOARDS', DEFAULT_MAX_BOARDS, MAX_BOARDS_ALLOWED) }
  const board = readBoardVariables(env, wrong)
  const notices = readSenderSettings(env, wrong)
  wrong.push(...noticeProblems(file.notices))
  const { faults, payments } = readPayments(env, file, host)
  wrong.push(...faults.map(({ clause }) => clause))
  if (wrong.length > 0) throw new ConfigError(`${wrong.join('; ')}.`)
  return {
    auth: readAuth(env),
    allowedOrigins,
    publicUrl,
    room,
    directory,
    board,
    notices,
    payments,
  }
}

/** Longer than a charge takes, and than the pause between two pings of a stream. */
const DEFAULT_SILENCE_SECONDS = 60

/** Some 600 descriptors: the default limit of many systems is 1,024. */
const DEFAULT_OPEN_REPOSITORIES = 200

/** More settings of hosts that run as a process: Deno and Node. */
export interface HostConfig {
  hostname: string
  /** 0: any free port. */
  port: number
  /** The folder of the repositories' databases. It is created if it does not exist. */
  dataDir: string
  /** The folder of the built console. */
  consoleDir: string
  /** The room for streams of all repositories together. */
  streams: StreamRoom
  /** The most repositories whose databases are open at once. */
  openRepositories: number
  /** A connection that takes nothing of what waits for it, and sends nothing, ends after this. */
  silenceMs: number
  /** The address of `GET /metrics`. Undefined: it is not served. */
  metrics: { hostname: string; port: number } | undefined
}

/** `name` names the default data folder, so that two hosts do not open the same files. */
export function readHostConfig(
  env: Environment,
  name: 'deno' | 'node',
  { room }: Pick<Config, 'room'>,
): HostConfig {
  const whole = (name: string, value: unknown, min: number, max: number) => {
    const number = Number(value)
    if (Number.isInteger(number) && number >= min && number <= max) return number
    throw new ConfigError(`${name} must be a whole number from ${min} to ${max}.`)
  }
  const portIn = (name: string, value: unknown) => whole(name, value, 0, 65_535)
  const text = (name: string, fallback: string) => {
    const value = env[name]
    return typeof value === 'string' && value !== '' ? value : fallback
  }
  const count = (name: Limit, fallback: number) =>
    whole(name, text(name, String(fallback)), 1, 1_000_000)
  const metricsPort = text('METRICS_PORT', '')
  return {
    hostname: text('HOST', '127.0.0.1'),
    port: portIn('PORT', env.PORT ?? 8787),
    dataDir: text('DATA_DIR', `.signalbox/${name}`),
    consoleDir: text('CONSOLE_DIR', 'dist/console'),
    streams: {
      all: count('MAX_PROCESS_STREAMS', DEFAULT_MAX_STREAMS),
      each: count('MAX_SUBJECT_STREAMS', room.each),
    },
    openRepositories: count('MAX_OPEN_REPOSITORIES', DEFAULT_OPEN_REPOSITORIES),
    silenceMs: count('SILENCE_SECONDS', DEFAULT_SILENCE_SECONDS) * 1_000,
    metrics: metricsPort
      ? {
          hostname: text('METRICS_HOST', '127.0.0.1'),
          port: portIn('METRICS_PORT', metricsPort),
        }
      : undefined,
  }
}
