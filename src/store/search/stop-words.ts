import { spellingOf } from './spelling.ts'

/**
 * Stop words, in the spelling that stands for all. They are ignored in a question if its other
 * words match, and tell which language it is in.
 */
const WORDS = {
  en: `
    a about all also am an and any are as at be been but by can could did do does for from had has have he
    her his how i if in into is it its just me my no not of on or our she should so some such than that the
    their them then there these they this to us was we were what when where which who whom whose why will
    with would you your d ll m re s t ve`,
  de: `
    aber als am an auch auf aus bei beim bin das dass dein dem den der des dich die dir du ein eine einem
    einen einer eines er es fur hat habe haben hatte hatten ich ihr ihre im in ist kein keine man mein meine
    mich mir mit nach nicht noch oder sein seine sich sie sind um und uns unser uber vom von wann war waren
    warum was wem wen wer werden wessen wie wieso wir wird wo wurde wurden welche welchem welchen welcher
    welches zu zum zur`,
  uk: `
    а або але без були було була був бути в вас ви від він вона вони воно вже де для до є ж за з зі із й
    його її їх і коли кого кому ми мене мені на над нам нас не ні ось по при про під та так там те ти тим
    того той тому ту тут у усе це цей цього ці ця чи чим чому ще що який якого якій яким яких яка яке які`,
  fr: `
    au aux avec ce ces cette comment dans de des du elle elles en est et etait il ils je la le les leur ma
    mes mon ne nous ou par pas pour pourquoi qu quand que qui quoi sa se ses son sont sur ta tu un une vous`,
  es: `
    al como con cual cuando de del donde el ella ellos era es esta este fue la las lo los mi mis no o para
    pero por porque que quien se son su sus un una unos y yo`,
} as const

const lists = Object.entries(WORDS).map(
  ([language, words]) => [language, new Set(words.trim().split(/\s+/))] as const,
)

export const STOP_WORDS: ReadonlySet<string> = new Set(lists.flatMap(([, words]) => [...words]))

export const isStopWord = (word: string): boolean => STOP_WORDS.has(spellingOf(word))

/** More of its words are English stop words than those of any other language. */
export function isEnglish(asked: readonly string[]): boolean {
  const words = asked.map(spellingOf)
  const [english = 0, ...others] = lists.map(
    ([, list]) => words.filter((word) => list.has(word)).length,
  )
  return english > Math.max(...others)
}
