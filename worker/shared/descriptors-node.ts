// The descriptors of this process: how many it may have, and what they are for. A process without a
// free one can accept no webhook. For Node and Deno; known on Linux alone.

import { readdirSync, readFileSync } from 'node:fs'

/** Undefined where the system does not say, or sets no bound. */
export function maxDescriptors(): number | undefined {
  const limits = readText('/proc/self/limits')
  const soft = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1])
  return Number.isInteger(soft) ? soft : undefined
}

/** Undefined where the system does not say, or no descriptor is free to ask it. */
export function openDescriptors(): number | undefined {
  try {
    // Without the one that the listing itself takes.
    return readdirSync('/proc/self/fd').length - 1
  } catch {
    return undefined
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** A database has its file, its log and the log's index. */
const OF_DATABASE = 3
/** The runtime, listening sockets, and the databases of payments, sessions and the directory. */
const OF_PROCESS = 64
/** For payments and health checks, and for what is accepted only to be refused. */
const RESERVED = 64
/** Of those, for connections without a token: webhooks, and who only holds one open. */
const OF_STRANGERS = 32

export interface Shares {
  /** Databases of repositories that are open at once. */
  databases: number
  /** Streams, each of which has a connection. */
  streams: number
  /** Connections whose request has no token. */
  strangers: number
}

/** What of `wanted` a process with `max` descriptors can have. At least one of each. */
export function sharesOf(max: number | undefined, wanted: Shares): Shares {
  if (max === undefined) return wanted
  const spare = Math.max(0, max - OF_PROCESS - RESERVED)
  const strangers = Math.min(wanted.strangers, Math.max(OF_STRANGERS, Math.floor(spare / 8)))
  const free = spare - Math.max(0, strangers - OF_STRANGERS)
  const databases = Math.min(wanted.databases, Math.floor(free / 2 / OF_DATABASE))
  const streams = Math.min(wanted.streams, free - databases * OF_DATABASE)
  return { databases: Math.max(1, databases), streams: Math.max(1, streams), strangers }
}
