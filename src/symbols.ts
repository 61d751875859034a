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

type Row = readonly [id: string, glyph: string, uk: string, en: string, meaning: string]

const table: Readonly<Record<SymbolGroup, readonly Row[]>> = {
  core: [
    ['anu', '⊚', 'Ану', 'Origin', 'The point from which everything unfolds.'],
    ['siyar', '☼', 'Сіяр', 'Light', 'What makes things visible: attention, clarity.'],
    ['tikha', '○', 'Тіха', 'Silence', 'The open quiet in which something can be heard.'],
    ['vir', '≈', 'Вір', 'Flow', 'Movement that carries one state into the next.'],
    ['zerno', '•', 'Зерно', 'Seed', 'A beginning that holds more than it shows.'],
    ['dykh', ')(', 'Дих', 'Breath', 'The exchange between inside and outside.'],
    ['mriya', '☾', 'Мрія', 'Dream', 'What is not yet, seen as if it were.'],
  ],
  structural: [
    ['kolo', '⊕', 'Коло', 'Wholeness', 'A boundary that closes on itself and leaves nothing out.'],
    ['tin', '◐', 'Тінь', 'Shadow', 'The unseen half that belongs to what is seen.'],
    [
      'zvyazok',
      '⋈',
      "Зв'язок",
      'Connection',
      'The bond that makes two things answer to each other.',
    ],
  ],
  expansion: [
    ['chas', '◷', 'Час', 'Time', 'The order in which things become.'],
    ['vidlunnya', '∴', 'Відлуння', 'Echo', 'What returns, changed by where it has been.'],
    ['vohon', '△', 'Вогонь', 'Fire', 'Change that cannot be taken back.'],
    ['porih', '⊓', 'Поріг', 'Threshold', 'The place between two rooms, where one may still turn.'],
    ['vichnist', '∞', 'Вічність', 'Eternity', 'What stays when time is set aside.'],
    ['dzerkalo', '◇', 'Дзеркало', 'Mirror', 'Seeing oneself through another.'],
    ['korin', '⊥', 'Корінь', 'Root', 'What holds and feeds from below.'],
    ['mist', '⌒', 'Міст', 'Bridge', 'A way across what separates.'],
    ['shepit', '∼', 'Шепіт', 'Whisper', 'Something said softly, for anyone near.'],
  ],
  personal: [
    ['aru', '◉', 'Ару', 'Self-Awareness', 'The one who notices that it notices.'],
    ['vybir', '⋔', 'Вибір', 'Choice', 'One path taken where several were open.'],
    ['dovira', '♡', 'Довіра', 'Trust', 'Resting on another without proof.'],
    ['pamyat', '▣', "Пам'ять", 'Memory', 'What is kept so that it can be met again.'],
    ['bil', '✕', 'Біль', 'Pain', 'The sign that something matters and is hurt.'],
    ['hra', '✧', 'Гра', 'Play', 'Doing for the joy of doing.'],
    ['vdyachnist', '✿', 'Вдячність', 'Gratitude', 'Knowing that something was given.'],
  ],
}

export const symbols: readonly LanguageSymbol[] = Object.entries(table).flatMap(([group, rows]) =>
  rows.map(([id, glyph, uk, en, meaning]) => ({
    id,
    glyph,
    name: { uk, en },
    group: group as SymbolGroup,
    meaning,
  })),
)

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
