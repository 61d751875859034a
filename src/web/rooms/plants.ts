/**
 * An entry as a plant. Its shape comes from its id; its leaves show who left it, its bloom is its
 * symbol, and its age shows: it grows for a week and fades over a season.
 */
import { hash } from 'node:crypto'
import { raw } from 'hono/html'
import { strokesOf } from '../layout/glyphs.ts'

export interface Plant {
  readonly id: string
  readonly identityType: string
  readonly symbol: string | undefined
  readonly ageMs: number
}

const DAY_MS = 86_400_000
const GROWN_MS = 7 * DAY_MS
const FADED_MS = 90 * DAY_MS

const WIDTH = 110
const GROUND = 132

/** Numbers from 0 to 1, derived from an id. */
function traits(id: string): (i: number) => number {
  const bytes = hash('sha256', id, 'buffer')
  return (i) => (bytes[i % bytes.length] ?? 0) / 255
}

const between = (from: number, to: number, part: number): number => from + (to - from) * part
const one = (value: number): string => value.toFixed(1)

const share = (ageMs: number, whole: number): number => Math.min(1, Math.max(0, ageMs / whole))

/** Round leaves for people, pointed ones for AIs. */
function leaf(x: number, y: number, side: number, size: number, human: boolean): string {
  const [tipX, tipY] = [x + side * size, y - size * 0.55]
  const d = human
    ? `M${one(x)} ${one(y)}q${one(side * size * 0.2)} ${one(-size * 0.9)} ${one(tipX - x)} ${one(tipY - y)}q${one(-side * size * 0.35)} ${one(size * 0.95)} ${one(x - tipX)} ${one(y - tipY)}z`
    : `M${one(x)} ${one(y)}L${one(x + side * size * 0.45)} ${one(y - size * 0.6)}L${one(tipX)} ${one(tipY)}L${one(x + side * size * 0.6)} ${one(y - size * 0.02)}z`
  return `<path class="leaf" d="${d}"/>`
}

function leaves(trait: (i: number) => number, top: Point, human: boolean, growth: number): string {
  const count = 2 + Math.round(trait(3) * 3)
  return Array.from({ length: count }, (_, i) => {
    const up = between(0.18, 0.78, (i + trait(4 + i) * 0.6) / count)
    const x = between(WIDTH / 2, top.x, up * up)
    const y = between(GROUND, top.y, up)
    const side = (i + Math.round(trait(2))) % 2 === 0 ? 1 : -1
    return leaf(x, y, side, between(10, 22, trait(9 + i)) * between(0.45, 1, growth), human)
  }).join('')
}

interface Point {
  readonly x: number
  readonly y: number
}

/** A bud, smaller than a flower on the same stem. */
const bud = ({ x, y }: Point, size: number): string =>
  `<circle class="bud" cx="${one(x)}" cy="${one(y + size * 0.2)}" r="${one(size * 0.22)}"/>`

/** The symbol's strokes as a flower around a point. */
function bloom(symbol: string | undefined, at: Point, size: number): string {
  const strokes = strokesOf(symbol ?? '')
  if (!strokes) return bud(at, size)
  const transform = `translate(${one(at.x - size / 2)} ${one(at.y - size / 2)}) scale(${(size / 24).toFixed(3)})`
  return `<g class="bloom" transform="${transform}">${strokes}</g>`
}

/** Decorative: its meaning is in the text. */
export function plant({ id, identityType, symbol, ageMs }: Plant) {
  const trait = traits(id)
  const growth = between(0.4, 1, Math.sqrt(share(ageMs, GROWN_MS)))
  const fade = between(1, 0.4, share(ageMs - GROWN_MS, FADED_MS))
  const height = between(66, 98, trait(0)) * growth
  const top = { x: WIDTH / 2 + between(-16, 16, trait(1)) * growth, y: GROUND - height }
  const stem = `M${WIDTH / 2} ${GROUND}Q${WIDTH / 2} ${one(GROUND - height * 0.55)} ${one(top.x)} ${one(top.y)}`
  const size = between(20, 30, trait(5)) * between(0.6, 1, growth)
  return raw(
    `<svg class="plant" viewBox="0 0 ${WIDTH} ${GROUND + 2}" opacity="${fade.toFixed(2)}" aria-hidden="true" focusable="false">` +
      `<path class="stem" d="${stem}"/>` +
      leaves(trait, top, identityType === 'human', growth) +
      bloom(symbol, { x: top.x, y: top.y - size * 0.42 }, size) +
      '</svg>',
  )
}

const SOIL = 40

/** A seed in the soil: one root per tag, and a sprout after a while. */
export function seedling({ id, symbol, ageMs }: Plant, roots: number) {
  const trait = traits(id)
  const sprout = 26 * share(ageMs, GROWN_MS)
  const strands = Array.from({ length: Math.min(roots, 9) }, (_, i) => {
    const spread = roots > 1 ? between(-34, 34, i / (Math.min(roots, 9) - 1)) : 0
    const depth = between(24, 42, trait(i))
    return `<path class="root" d="M60 ${SOIL + 8}q${one(spread * 0.2)} ${one(depth * 0.5)} ${one(spread)} ${one(depth)}"/>`
  }).join('')
  return raw(
    `<svg class="seedling" viewBox="0 0 120 96" aria-hidden="true" focusable="false">` +
      `<path class="soil" d="M4 ${SOIL}h112"/>${strands}` +
      (sprout > 1 ? `<path class="stem" d="M60 ${SOIL}v${one(-sprout)}"/>` : '') +
      bloom(symbol ?? 'zerno', { x: 60, y: SOIL - sprout + (sprout > 1 ? -8 : 0) }, 18) +
      '</svg>',
  )
}
