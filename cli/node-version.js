// Plain JavaScript that imports nothing: a Node that is too old for the rest must get as far as the
// sentence.

const [major, minor] = process.versions.node.split('.').map(Number)
const isNew = major > 22 || (major === 22 && minor >= 22)

/** Says so, and sets the exit code, where this Node is too old. */
export function refusesNode() {
  if (isNew) return false
  process.stderr.write(
    `signalbox: Node ${process.versions.node} is too old: Signalbox needs Node 22.22 or newer.\n`,
  )
  process.exitCode = 2
  return true
}
