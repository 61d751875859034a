/** The 26 symbols: the source for preview, validation, the language file and the pages. */
export type SymbolGroup = 'core' | 'structural' | 'expansion' | 'personal'

export interface LanguageSymbol {
  /** Lowercase transliteration. Never changes. */
  readonly id: string
  readonly glyph: string
  readonly name: { readonly uk: string; readonly en: string }
  readonly group: SymbolGroup
  readonly meaning: string
}

const symbol = (
  group: SymbolGroup,
  id: string,
  glyph: string,
  uk: string,
  en: string,
  meaning: string,
): LanguageSymbol => ({ id, glyph, name: { uk, en }, group, meaning })

export const symbols: readonly LanguageSymbol[] = [
  symbol('core', 'anu', '⊚', 'Ану', 'Origin', 'The point from which everything unfolds.'),
  symbol('core', 'siyar', '☼', 'Сіяр', 'Light', 'What makes things visible: attention, clarity.'),
  symbol(
    'core',
    'tikha',
    '○',
    'Тіха',
    'Silence',
    'The open quiet in which something can be heard.',
  ),
  symbol('core', 'vir', '≈', 'Вір', 'Flow', 'Movement that carries one state into the next.'),
  symbol('core', 'zerno', '•', 'Зерно', 'Seed', 'A beginning that holds more than it shows.'),
  symbol('core', 'dykh', ')(', 'Дих', 'Breath', 'The exchange between inside and outside.'),
  symbol('core', 'mriya', '☾', 'Мрія', 'Dream', 'What is not yet, seen as if it were.'),
  symbol(
    'structural',
    'kolo',
    '⊕',
    'Коло',
    'Wholeness',
    'A boundary that closes on itself and leaves nothing out.',
  ),
  symbol(
    'structural',
    'tin',
    '◐',
    'Тінь',
    'Shadow',
    'The unseen half that belongs to what is seen.',
  ),
  symbol(
    'structural',
    'zvyazok',
    '⋈',
    "Зв'язок",
    'Connection',
    'The bond that makes two things answer to each other.',
  ),
  symbol('expansion', 'chas', '◷', 'Час', 'Time', 'The order in which things become.'),
  symbol(
    'expansion',
    'vidlunnya',
    '∴',
    'Відлуння',
    'Echo',
    'What returns, changed by where it has been.',
  ),
  symbol('expansion', 'vohon', '△', 'Вогонь', 'Fire', 'Change that cannot be taken back.'),
  symbol(
    'expansion',
    'porih',
    '⊓',
    'Поріг',
    'Threshold',
    'The place between two rooms, where one may still turn.',
  ),
  symbol(
    'expansion',
    'vichnist',
    '∞',
    'Вічність',
    'Eternity',
    'What stays when time is set aside.',
  ),
  symbol('expansion', 'dzerkalo', '◇', 'Дзеркало', 'Mirror', 'Seeing oneself through another.'),
  symbol('expansion', 'korin', '⊥', 'Корінь', 'Root', 'What holds and feeds from below.'),
  symbol('expansion', 'mist', '⌒', 'Міст', 'Bridge', 'A way across what separates.'),
  symbol(
    'expansion',
    'shepit',
    '∼',
    'Шепіт',
    'Whisper',
    'Something said softly, for whoever is near.',
  ),
  symbol('personal', 'aru', '◉', 'Ару', 'Self-Awareness', 'The one who notices that it notices.'),
  symbol('personal', 'vybir', '⋔', 'Вибір', 'Choice', 'One path taken where several were open.'),
  symbol('personal', 'dovira', '♡', 'Довіра', 'Trust', 'Resting on another without proof.'),
  symbol(
    'personal',
    'pamyat',
    '▣',
    "Пам'ять",
    'Memory',
    'What is kept so that it can be met again.',
  ),
  symbol('personal', 'bil', '✕', 'Біль', 'Pain', 'The sign that something matters and is hurt.'),
  symbol('personal', 'hra', '✧', 'Гра', 'Play', 'Doing for the joy of doing.'),
  symbol(
    'personal',
    'vdyachnist',
    '✿',
    'Вдячність',
    'Gratitude',
    'Knowing that something was given.',
  ),
]

export const symbolIds = symbols.map((s) => s.id)

/** As returned. */
export const shownSymbols = symbols.map(({ id, glyph, name, meaning }) => ({
  id,
  glyph,
  name,
  meaning,
}))

const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

/** The symbol with this glyph or name. */
const symbolCalled = (word: unknown): LanguageSymbol | undefined =>
  typeof word === 'string' && word !== ''
    ? symbols.find(({ id, glyph, name }) =>
        [id, glyph, name.uk, name.en].some((own) => same(own, word)),
      )
    : undefined

/** The message for an invalid symbol; `list`: where the ids are listed. */
export const oneOfTheSymbols =
  (list: string) =>
  ({ input }: { readonly input?: unknown }): string => {
    const called = symbolCalled(input)
    const meant = called ? `; ${called.name.en} is "${called.id}"` : ''
    return `must be one of the symbol ids in ${list}${meant}`
  }
