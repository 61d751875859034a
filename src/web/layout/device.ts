/** A browser as people call it, from what it says of itself. */

type Names = readonly (readonly [mark: RegExp, name: string])[]

/** The first that is found: most name others beside themselves. */
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

/** What it calls itself first, where it is none that people know. */
const ownName = (userAgent: string): string => /^[^\s(]+/.exec(userAgent)?.[0] ?? 'A browser'

export function deviceOf(userAgent: string): string {
  const browser = nameIn(browsers, userAgent) ?? ownName(userAgent)
  const system = nameIn(systems, userAgent)
  return system === undefined ? browser : `${browser} on ${system}`
}

/** Both as `neighbourhood` has them. */
const HERE = ['127.0.0.x', '0:0:0:x']

/** Nothing where it is not known. */
export function placeOf(place: string): string {
  if (place === '') return ''
  return HERE.includes(place) ? ', from the service’s own machine' : `, from ${place}`
}
