// The moving picture as SVG: a terminal on the left, a phone on the right, scene by scene. It moves
// by CSS alone, since a README shows an SVG as an image; who wants no motion sees the last scene.

export interface Line {
  /** What somebody types, or what the program prints. */
  kind: 'typed' | 'printed'
  text: string
}

export interface Scene {
  lines: readonly Line[]
  /** What the phone shows at its end: a JPEG in base64. */
  image: string
}

const SCENE_S = 4
/** A scene begins with its lines, then comes what they caused. */
const IMAGE_AFTER_S = 1.2
const FADE_S = 0.3
const WIDTH = 960
const LINE_HEIGHT = 24
/** A phone's pixel in ours. */
const SCALE = 0.75

export function tourSvg(
  scenes: readonly Scene[],
  phone: { width: number; height: number },
): string {
  const totalS = scenes.length * SCENE_S
  const [width, tall] = [phone.width * SCALE, phone.height * SCALE]
  const height = tall + 60
  const left = WIDTH - width - 40
  const starts = new Set<number>()
  /** The attributes of what is hidden until `startS` of each round. */
  const step = (startS: number, kind = '') => {
    starts.add(startS)
    return `class="step ${kind}" style="animation-name:${nameOf(startS)}"`
  }
  const images = scenes.map(
    ({ image }, at) =>
      `<image ${step(at * SCENE_S + (at === 0 ? 0 : IMAGE_AFTER_S))} x="${left}" y="30"
      width="${width}" height="${tall}" href="data:image/jpeg;base64,${image}"/>`,
  )
  let row = 0
  const lines = scenes.flatMap((scene, at) =>
    scene.lines.map((line, of) => {
      const startS = at * SCENE_S + (of * IMAGE_AFTER_S) / scene.lines.length
      const y = 84 + (row++ + at) * LINE_HEIGHT
      return `<text ${step(startS, line.kind)} x="36" y="${y}"
      xml:space="preserve">${escaped(line.text)}</text>`
    }),
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img"
  aria-label="A terminal and a phone: signalbox shows a board; an edit in the terminal is on the phone at once; a payment is charged, paid and reported.">
<style>
.step { animation-duration: ${totalS}s; animation-iteration-count: infinite; }
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #9fb0c3; }
.typed { fill: #f2f5f8; }
${[...starts].map((startS) => keyframes(startS, totalS)).join('\n')}
@media (prefers-reduced-motion: reduce) { .step { animation: none; } }
</style>
<rect width="${WIDTH}" height="${height}" rx="12" fill="#0d1520"/>
<rect x="16" y="30" width="${left - 40}" height="${tall}" rx="8" fill="#16212f"/>
<circle cx="36" cy="48" r="5" fill="#3a4a5e"/><circle cx="54" cy="48" r="5" fill="#3a4a5e"/>
${lines.join('\n')}
<rect x="${left - 8}" y="22" width="${width + 16}" height="${tall + 16}" rx="16" fill="#2a3646"/>
${images.join('\n')}
</svg>
`
}

const nameOf = (startS: number): string => `at${Math.round(startS * 100)}`

function keyframes(startS: number, totalS: number): string {
  if (startS === 0) return `@keyframes ${nameOf(startS)} { 0%, 100% { opacity: 1 } }`
  const percent = (seconds: number) => `${((seconds / totalS) * 100).toFixed(2)}%`
  const from = `0%, ${percent(startS)} { opacity: 0 }`
  return `@keyframes ${nameOf(startS)} { ${from} ${percent(startS + FADE_S)}, 100% { opacity: 1 } }`
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
