// What a start tells the person at the terminal. Pure.

import type { LocalJson } from './local-json.ts'
import type { StartOptions } from './options.ts'

export interface Greeting {
  options: StartOptions
  layout: string
  local: LocalJson
  /** The store is the example, whose tasks we know by name. */
  isExample: boolean
  platform: NodeJS.Platform
}

/** Other programs wait for this line, word for word. */
export const readyLine = (url: string): string => `signalbox ready ${url}`

export const beforeReady = ({ options, layout, local }: Greeting): string => `\
board       ${options.storeDir} (${layout})
repository  ${local.path}
edge        ${local.url} (${options.host})
database    ${local.database}
logs        ${options.dataDir}/logs
`

export function afterReady({ options, local, isExample, platform }: Greeting): string {
  const file = JSON.stringify(`${options.dataDir}/local.json`)
  const token = `$(node -p 'require(${file}).tokens.board')`
  const inPlace = platform === 'darwin' ? "-i ''" : '-i'
  const task = quote(`${options.storeDir}/.cairn/tasks/LAMP-4.md`)
  const change = isExample
    ? `and change a task in another:

  sed ${inPlace} 's/^status: .*/status: in_progress/' ${task}`
    : 'and save a task of the board in an editor.'
  return `
Watch it in another terminal:

  curl -N -H "Authorization: Bearer ${token}" ${local.url}/api/events

${change}

Ctrl-C ends all of it.
`
}

const quote = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
