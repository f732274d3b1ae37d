// Opens an address in the browser that the person uses.

import { spawn } from 'node:child_process'

type Command = [program: string, ...args: string[]]

function commandFor(platform: NodeJS.Platform, url: string): Command {
  if (platform === 'darwin') return ['open', url]
  // The first text in quotes would be the window's title.
  if (platform === 'win32') return ['cmd', '/c', 'start', '""', url]
  return ['xdg-open', url]
}

/** Does not wait for it. `failed` gets the reason if it could not be opened. */
export function openBrowser(url: string, failed: (why: string) => void): void {
  const [program, ...args] = commandFor(process.platform, url)
  const child = spawn(program, args, { detached: true, stdio: 'ignore' })
  child.once('error', (error) => failed(`${program}: ${error.message}`))
  child.once('exit', (code) => code !== 0 && failed(`${program} ended with exit code ${code}`))
  // It may live for as long as the browser does.
  child.unref()
}
