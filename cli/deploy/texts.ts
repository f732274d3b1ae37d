// What a deployment prints: what it is about to do, and what was done.

import { quote } from '../terminal.ts'
import { type Choice, CONFIG_FILE, type EdgeFolder, type FolderPlan } from './edge-folder.ts'
import type { TokenFiles } from './secrets.ts'
import { type Deployed, lineOf, type Wrangler } from './wrangler.ts'

interface Summary {
  folder: EdgeFolder
  choice: Choice
  plan: FolderPlan
  wrangler: Wrangler
  deployed: Deployed
  isNew: boolean
  sent: Readonly<Record<string, string>>
}

/** What leaves the machine, and where it goes. */
export function summaryOf({
  folder,
  choice,
  plan,
  wrangler,
  deployed,
  isNew,
  sent,
}: Summary): string[] {
  const isOurs = folder.record?.name === choice.name
  const there = isOurs ? 'exists, deployed from this folder' : 'exists, and this folder replaces it'
  const names = Object.keys(sent).map((name) =>
    name === 'AUTH_SECRETS' && isNew && deployed.isThere ? `${name} (all tokens end)` : name,
  )
  return [
    `Worker         ${choice.name}: ${deployed.isThere ? there : 'is new'}`,
    `Folder         ${folder.dir}${folder.isForeign ? ': not made by a run of yours' : ''}`,
    `Configuration  ${CONFIG_FILE}${plan.isConfigured ? ': not as this command writes it' : ''}`,
    `wrangler       ${lineOf(wrangler)}`,
    `Secrets        ${names.join(', ') || 'none: those that it has stay'}`,
  ]
}

interface Report {
  choice: Choice
  url: string
  files: TokenFiles | undefined
  noticeFile: string | undefined
}

export function report({ choice: { board, payments }, url, files, noticeFile }: Report): string {
  const lines = [`The edge is at ${url}`]
  if (noticeFile !== undefined) lines.push(`Signs notices         ${noticeFile}`)
  if (files) {
    const repo = `--repo ${quote(board)}`
    lines.push(
      `Token of the sidecar  ${files.sidecar}`,
      `Token for readers     ${files.reader}`,
      '',
      'Beside the files of the board:',
      `  signalbox watch . --edge ${url} ${repo} --token-file ${quote(files.sidecar)}`,
      `Then open ${url} and paste the token for readers.`,
    )
  } else {
    lines.push('Its secret is on another machine: the tokens that were made there stay valid.')
  }
  if (payments)
    lines.push('The tables of payments: LIBSQL_URL=… LIBSQL_AUTH_TOKEN=… signalbox migrate')
  return `${lines.join('\n')}\n`
}
