// local.json: the addresses and tokens of a running system, for programs on the same machine. It
// exists exactly while the system is ready, so a program that finds it may connect.

import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { NamedBoard } from '../sidecar/boards/names.ts'
import type { LayoutName } from '../worker/board/wire.ts'
import type { LocalGateways } from './gateways.ts'
import { replacePrivateFile } from './private-file.ts'
import type { LocalTokens } from './tokens.ts'

export interface Shared {
  /** Of the edge on the local network, such as https://192.168.1.5:8788; the likeliest first. */
  urls: readonly [string, ...string[]]
  /** SHA-256 of its certificate. */
  fingerprint: string
}

/** A board that is published from here. */
export interface LocalBoard {
  /** The repository's name at the edge. */
  path: string
  /** The folder of its project. */
  dir: string
  layout: LayoutName
}

export interface LocalJson {
  /** Of the edge. */
  url: string
  /** The repository's name there; without a board, what its tokens name. */
  path: string
  /** The one of `path` is the first. */
  boards: readonly LocalBoard[]
  /** URL of the libSQL server. */
  database: string
  /** What the libSQL server asks for: reads and writes all that is in it. */
  databaseToken: string
  /** URL of the gateway simulator. */
  simulator: string
  tokens: LocalTokens
  /** Absent: it is on loopback alone. */
  shared?: Shared
  /** The secrets of the gateways, which sign their webhooks. */
  gateways: LocalGateways
  /** The URL and the secret for events. Absent: events are not posted. */
  eventsUrl?: string
  eventsSecret?: string
  /** Of the edge, for browsers elsewhere. Absent: `url`. */
  publicUrl?: string
}

/** Of `serve`, which keeps its secrets where they are, and names the place. */
export interface ServeJson {
  /** Of the edge, on this machine. */
  url: string
  serve: {
    /** Those of this process; sidecars elsewhere may publish others. */
    boards: readonly LocalBoard[]
    /** All of their names begin with it. Absent: there are none. */
    repo?: string
    /** The file of --env. Absent: its variables are those of its environment. */
    env?: string
    /** Of its environment: the variables that name files of secrets. */
    files: Readonly<Record<string, string | undefined>>
  }
}

export const localBoard = ({ name, dir, store }: NamedBoard): LocalBoard => ({
  ...{ path: name, dir, layout: store.layout },
})

const fileIn = (dataDir: string): string => join(dataDir, 'local.json')

/** It holds tokens. */
export const writeLocalJson = (dataDir: string, local: LocalJson | ServeJson): Promise<void> =>
  replacePrivateFile(fileIn(dataDir), `${JSON.stringify(local, null, 2)}\n`)

/** Where the system of this data folder answers; undefined: it has not started yet. */
export async function urlIn(dataDir: string): Promise<string | undefined> {
  const text = await readFile(fileIn(dataDir), 'utf8').catch(() => '')
  return /"url": "(https?:\/\/[\w.:[\]-]+)"/.exec(text)?.[1]
}

export const removeLocalJson = (dataDir: string): Promise<void> =>
  rm(fileIn(dataDir), { force: true })
