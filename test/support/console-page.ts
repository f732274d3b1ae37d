// Opens the console with the link that `npm start` prints.

import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import type { Start } from './local-system.ts'

/** The sign-in link. */
export function linkOf(start: Start): string {
  const [link] = /http:\S+#\/sign-in\/\S+/.exec(start.stdout) ?? []
  if (link === undefined) throw new Error(`no link was printed: ${start.stdout}`)
  return link
}

/** A page that opened the link, with errors of its scripts and violations of its policy. */
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

/** Payments are read every second instead of every five, as when the page is shown again. */
export const readsOften = (context: BrowserContext) =>
  context.addInitScript("setInterval(() => dispatchEvent(new Event('online')), 1_000)")

/** Saves a task of the started board as an editor does: temporary file, then rename. */
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

/** The name of what has the focus. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(
    '(document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent)',
  )

/** Presses Tab until an element of this name has the focus. */
export async function tabTo(page: Page, name: RegExp, key = 'Tab'): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press(key)
    if (name.test(await focused(page))) return
  }
  throw new Error(`no ${name} was reached; the last was ${await focused(page)}`)
}
