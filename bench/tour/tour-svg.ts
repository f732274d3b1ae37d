// The moving picture as SVG: a terminal on the left, a phone on the right, scene by scene. It moves
// by CSS alone, since a README shows an SVG as an image; who wants no motion sees the last scene.

export interface Line {
  /** What somebody types, or what the program says. */
  kind: 'typed' | 'said'
  text: string
}

export interface Scene {
  lines: readonly Line[]
  /** What the phone shows at its end: a JPEG in base64. */
  image: string
}

const SCENE_S = 4
/** Of a scene: the lines first, then what they caused. */
const IMAGE_AFTER_S = 1.2
const FADE_S = 0.3
const WIDTH = 960
const LINE_HEIGHT = 24

export function tourSvg(
  scenes: readonly Scene[],
  phone: { width: number; height: number },
): string {
  const totalS = scenes.length * SCENE_S
  const height = phone.height * 0.75 + 60
  const scale = 0.75
  const [width, tall] = [phone.width * scale, phone.height * scale]
  const left = WIDTH - width - 40
  const images = scenes.map(({ image }, at) => {
    const shown = appear(at * SCENE_S + (at === 0 ? 0 : IMAGE_AFTER_S), totalS)
    return `<image class="step" style="animation-name:${shown.name}" x="${left}" y="30"
      width="${width}" height="${tall}" href="data:image/jpeg;base64,${image}"/>`
  })
  let row = 0
  const lines = scenes.flatMap((scene, at) =>
    scene.lines.map((line, of) => {
      const shown = appear(at * SCENE_S + (of * IMAGE_AFTER_S) / scene.lines.length, totalS)
      const y = 84 + (row++ + at) * LINE_HEIGHT
      return `<text class="step ${line.kind}" style="animation-name:${shown.name}" x="36" y="${y}"
      xml:space="preserve">${escaped(line.text)}</text>`
    }),
  )
  const starts = new Set(
    scenes.flatMap((scene, at) => [
      at * SCENE_S + (at === 0 ? 0 : IMAGE_AFTER_S),
      ...scene.lines.map((_, of) => at * SCENE_S + (of * IMAGE_AFTER_S) / scene.lines.length),
    ]),
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img"
  aria-label="A terminal and a phone: npx signalbox shows a board; an edit in the terminal is on the phone at once; a payment is charged, paid and told.">
<style>
.step { animation-duration: ${totalS}s; animation-iteration-count: infinite; }
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #9fb0c3; }
.typed { fill: #f2f5f8; }
${[...starts].map((start) => appear(start, totalS).css).join('\n')}
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

/** Hidden until `startS` of each round, then there until its end. */
function appear(startS: number, totalS: number): { name: string; css: string } {
  const name = `at${Math.round(startS * 100)}`
  if (startS === 0) return { name, css: `@keyframes ${name} { 0%, 100% { opacity: 1 } }` }
  const percent = (seconds: number) => `${((seconds / totalS) * 100).toFixed(2)}%`
  const css = `@keyframes ${name} { 0%, ${percent(startS)} { opacity: 0 } ${percent(startS + FADE_S)}, 100% { opacity: 1 } }`
  return { name, css }
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
