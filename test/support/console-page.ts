// The console as somebody at the terminal opens it: by the link that a start prints.

import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import type { Start } from './local-system.ts'

/** The link that signs one browser in. */
export function linkOf(start: Start): string {
  const [link] = /http:\S+#\/sign-in\/\S+/.exec(start.stdout) ?? []
  if (link === undefined) throw new Error(`no link was printed: ${start.stdout}`)
  return link
}

/** A page that follows the link, and what its console and its policy complained of. */
export async function openConsole(
  context: BrowserContext,
  link: string,
): Promise<{ page: Page; complaints: string[] }> {
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  await page.goto(link)
  return { page, complaints }
}

/** Saves a task of the start's own board as an editor does: temp and rename in the same folder. */
export async function editTask(
  start: Start,
  id: string,
  edit: (text: string) => string,
): Promise<void> {
  const folder = join(start.storeDir, '.cairn/tasks')
  const temp = join(folder, `.tmp-${id}`)
  const path = join(folder, `${id}.md`)
  await writeFile(temp, edit(await readFile(path, 'utf8')))
  await rename(temp, path)
}

export const retitle = (title: string) => (text: string) =>
  text.replace(/^title: .*$/m, `title: ${title}`)
