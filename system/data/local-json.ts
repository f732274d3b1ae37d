// local.json: the addresses and tokens of a running system, for programs on the same machine. It
// exists exactly while the system is ready, so a program that finds it may connect.

import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import type { NamedBoard } from '../../sidecar/boards/names.ts'
import { jsonIn } from '../../worker/shared/json.ts'
import { LAYOUT_NAMES } from '../../worker/shared/layouts.ts'
import { readPlain } from '../../worker/shared/plain-file-node.ts'
import { replacePrivateFile } from '../../worker/shared/private-file-node.ts'

const text = z.string()

const SHARED = z.object({
  /** The edge's on the local network, such as https://192.168.1.5:8788; the likeliest first. */
  urls: z.tuple([text], text).readonly(),
  /** SHA-256 of its certificate. */
  fingerprint: text,
})

/** A board that is published from here. */
const BOARD = z.object({
  /** The repository's name at the edge. */
  path: text,
  /** The folder of its project. */
  dir: text,
  layout: z.enum(LAYOUT_NAMES),
})

/** Of each gateway that is configured, one setting that identifies it. */
export type LocalGateways = Readonly<Partial<Record<string, Readonly<Record<string, string>>>>>

/** What signs notices to webhooks. */
const NOTICES = z.object({ secret: text })

const TOKENS = z.object({
  /** Reads the board. Absent: there is none. */
  board: text.exactOptional(),
  /** Publishes it. Absent: there is none. */
  sidecar: text.exactOptional(),
  /** Reads it, and claims its tasks. Absent: there is none. */
  agent: text.exactOptional(),
  /** Charges, refunds, and reads both back. */
  payments: text,
})

const LOCAL = z.object({
  /** The edge's. */
  url: text,
  /** The repository's name there; without a board, what its tokens name. */
  path: text,
  /** The one of `path` is the first. */
  boards: z.array(BOARD).readonly(),
  /** URL of the libSQL server. */
  database: text,
  /** What the libSQL server asks for: reads and writes all that is in it. */
  databaseToken: text,
  /** URL of the gateway simulator. */
  simulator: text,
  tokens: TOKENS,
  /** Absent: it is on loopback alone. */
  shared: SHARED.exactOptional(),
  /** The secrets of the gateways, which sign their webhooks. */
  gateways: z.custom<LocalGateways>((it) => it instanceof Object),
  /** The URL and the secret for events. Absent: events are not posted. */
  eventsUrl: text.exactOptional(),
  eventsSecret: text.exactOptional(),
  notices: NOTICES.exactOptional(),
  /** The edge's, for browsers elsewhere. Absent: `url`. */
  publicUrl: text.exactOptional(),
})

/** What `serve` writes, which keeps its secrets where they are, and names the file. */
const SERVE = z.object({
  /** The edge's, on this machine. */
  url: text,
  serve: z.object({
    /** Those of this process; sidecars elsewhere may publish others. */
    boards: z.array(BOARD).readonly(),
    /** All of their names begin with it. Absent: there are none. */
    repo: text.exactOptional(),
    /** The file of --env. Absent: its variables are those of its environment. */
    env: text.exactOptional(),
    /** The variables of its environment that name files of secrets. */
    files: z.record(text, text.optional()),
  }),
  /** Absent: NOTICE_SECRET is set. */
  notices: NOTICES.exactOptional(),
})

export type Shared = z.infer<typeof SHARED>
export type LocalBoard = z.infer<typeof BOARD>
export type LocalTokens = z.infer<typeof TOKENS>
export type LocalJson = z.infer<typeof LOCAL>
export type ServeJson = z.infer<typeof SERVE>

const EITHER = z.union([SERVE, LOCAL])

export const localBoard = ({ name, dir, store }: NamedBoard): LocalBoard => ({
  path: name,
  dir,
  layout: store.layout,
})

export const LOCAL_JSON = 'local.json'
const fileIn = (dataDir: string): string => join(resolve(dataDir), LOCAL_JSON)

/** It holds tokens. */
export const writeLocalJson = (dataDir: string, local: LocalJson | ServeJson): Promise<void> =>
  replacePrivateFile(fileIn(dataDir), `${JSON.stringify(local, null, 2)}\n`)

/**
 * The system that runs with this data folder. Undefined: the file is of another version. Throws as
 * readPlain does: the folder may have come with a repository.
 */
export async function readLocalJson(dataDir: string): Promise<LocalJson | ServeJson | undefined> {
  const { text } = await readPlain(fileIn(dataDir))
  // Not why: the parser's message quotes what it read, and that is tokens.
  return EITHER.safeParse(jsonIn(text)).data
}

export const removeLocalJson = (dataDir: string): Promise<void> =>
  rm(fileIn(dataDir), { force: true })
