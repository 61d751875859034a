/** The name of a browser and its system, from its User-Agent. */

type Names = readonly (readonly [mark: RegExp, name: string])[]

/** The first match; most name others besides themselves. */
const browsers: Names = [
  [/Edg(A|iOS)?\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/SamsungBrowser\//, 'Samsung Internet'],
  [/(Firefox|FxiOS)\//, 'Firefox'],
  [/(Chrome|CriOS|Chromium)\//, 'Chrome'],
  [/Version\/.* Safari\//, 'Safari'],
]

const systems: Names = [
  [/Android/, 'Android'],
  [/iPhone/, 'an iPhone'],
  [/iPad/, 'an iPad'],
  [/Windows/, 'Windows'],
  [/CrOS/, 'ChromeOS'],
  [/Mac OS X|Macintosh/, 'a Mac'],
  [/Linux|X11/, 'Linux'],
]

const nameIn = (names: Names, userAgent: string): string | undefined =>
  names.find(([mark]) => mark.test(userAgent))?.[1]

/** The first product, for unknown browsers. */
const ownName = (userAgent: string): string => /^[^\s(]+/.exec(userAgent)?.[0] ?? 'A browser'

export function deviceOf(userAgent: string): string {
  const browser = nameIn(browsers, userAgent) ?? ownName(userAgent)
  const system = nameIn(systems, userAgent)
  return system === undefined ? browser : `${browser} on ${system}`
}

/** Both from `neighbourhood`. */
const HERE = ['127.0.0.x', '0:0:0:x']

/** Nothing if unknown. */
export function placeOf(place: string): string {
  if (place === '') return ''
  return HERE.includes(place) ? ', from the service’s own machine' : `, from ${place}`
}
