/** The 26 symbols as drawings: strokes in a box of 24 by 24, in the colour of the text. */
import { raw } from 'hono/html'

const circle = (r: number, extra = ''): string => `<circle cx="12" cy="12" r="${r}"${extra}/>`
const path = (d: string): string => `<path d="${d}"/>`
const filled = ' fill="currentColor" stroke="none"'

const rays = Array.from({ length: 8 }, (_, i) => {
  const [x, y] = [Math.cos((i * Math.PI) / 4), Math.sin((i * Math.PI) / 4)]
  const at = (r: number) => `${(12 + r * x).toFixed(1)} ${(12 + r * y).toFixed(1)}`
  return `M${at(6.5)}L${at(9.5)}`
}).join('')

const petals = Array.from({ length: 6 }, (_, i) => {
  const transform = `rotate(${i * 60} 12 12)`
  return `<ellipse cx="12" cy="6.2" rx="2.6" ry="3.6" transform="${transform}"/>`
}).join('')

const dot = (x: number, y: number, r: number): string =>
  `<circle cx="${x}" cy="${y}" r="${r}"${filled}/>`

const drawings: Readonly<Record<string, string>> = {
  anu: circle(9) + circle(4),
  siyar: circle(3.5) + path(rays),
  tikha: circle(4.5),
  vir: path('M3 9.5q4.5-5 9 0t9 0') + path('M3 15.5q4.5-5 9 0t9 0'),
  zerno: `<path d="M12 6c4 3 4 9 0 12c-4-3-4-9 0-12z" fill="currentColor"/>`,
  dykh: path('M5 4c4 5 4 11 0 16') + path('M19 4c-4 5-4 11 0 16'),
  mriya: path('M16.5 3.5a9 9 0 1 0 4 11.5a7.5 7.5 0 0 1-4-11.5z'),
  kolo: circle(9.5),
  tin: `${circle(8.5)}<path d="M12 3.5a8.5 8.5 0 0 0 0 17z" fill="currentColor"/>`,
  zvyazok: path(
    'M12 12c-2.5-3.5-4-4.5-5.8-4.5a4.5 4.5 0 0 0 0 9c1.8 0 3.3-1 5.8-4.5s4-4.5 5.8-4.5a4.5 4.5 0 0 1 0 9c-1.8 0-3.3-1-5.8-4.5z',
  ),
  chas: path(
    'M6 3h12M6 21h12M7.5 3c0 5 4.5 6 4.5 9s-4.5 4-4.5 9M16.5 3c0 5-4.5 6-4.5 9s4.5 4 4.5 9',
  ),
  vidlunnya: dot(12, 6, 2) + dot(6, 16.5, 2) + dot(18, 16.5, 2),
  vohon: path('M12 3.5L21 19.5H3z'),
  porih: path('M5 21V4h14v17') + path('M2.5 21H7M17 21h4.5'),
  vichnist: circle(8) + path('M5 20L19 4'),
  dzerkalo: path('M12 2.5L19.5 12L12 21.5L4.5 12z') + path('M12 2.5v19'),
  korin: path('M12 3v10') + path('M12 13c0 4-3 5-7 7M12 13c0 4 3 5 7 7M12 13v8'),
  mist: path('M2.5 17c3-10 16-10 19 0') + path('M2.5 17h19M8 11.2V17M16 11.2V17'),
  shepit: path('M3 13.5c3-5 6-5 9-1.5s6 3.5 9-1.5'),
  aru: circle(9) + circle(3.5, filled),
  vybir: path('M12 21v-8M12 13V3M12 13c-5 0-7-3-7-9M12 13c5 0 7-3 7-9'),
  dovira: path('M12 20C5 15 3 11.5 3 8.5a4.5 4.5 0 0 1 9-1a4.5 4.5 0 0 1 9 1c0 3-2 6.5-9 11.5z'),
  pamyat: path('M4 4h16v16H4z') + path('M9 9h6v6H9z'),
  bil: path('M5 5l14 14M19 5L5 19'),
  hra: path(
    'M12 2.5c.8 6 3.5 8.7 9.5 9.5c-6 .8-8.7 3.5-9.5 9.5c-.8-6-3.5-8.7-9.5-9.5c6-.8 8.7-3.5 9.5-9.5z',
  ),
  vdyachnist: petals + circle(1.8, filled),
}

const stroke =
  'fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"'

/** Only the strokes, for a larger drawing. Empty for an unknown symbol. */
export const strokesOf = (id: string): string => drawings[id] ?? ''

/** Decorative: the symbol's name is in the text. */
export const glyph = (id: string) =>
  raw(
    `<svg class="glyph" viewBox="0 0 24 24" ${stroke} aria-hidden="true" focusable="false">${strokesOf(id)}</svg>`,
  )

/** The logo as a file, for light and dark backgrounds. */
export const serviceIcon = (): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" ${stroke.replace('currentColor', '#2f7d5b')} color="#2f7d5b">${strokesOf('anu')}</svg>`
