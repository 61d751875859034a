/** The versions of one key as they may have come about, laid one after the other. */
import { answerTo, madeIn, type Payload, type Versions } from '../register.ts'
import { isTrue } from './fits.ts'
import type { Change, Operation } from './operations.ts'

export interface Line {
  readonly versions: Versions
  /** What made them. */
  readonly makers: ReadonlySet<Change>
  /** Before this moment nobody can have seen a version. */
  readonly seenFrom: (version: number) => number
  /** Puts a version at the end; what is wrong with it and with what was seen of it, in words. */
  readonly lay: (maker: Change) => string[]
  /** What is wrong with what was seen of the end. */
  readonly faultsAtEnd: () => string[]
  /** Takes away all versions above one. */
  readonly backTo: (version: number) => void
}

const late = (what: string, { completedAt }: Operation, notBefore: number): string[] =>
  completedAt < notBefore
    ? [`${what} was over at ${completedAt}, before ${notBefore} where it belongs`]
    : []

/** `seers`: those that name the version that they saw. */
export function openLine(seers: ReadonlyMap<number | undefined, readonly Operation[]>): Line {
  const versions: Payload[] = [undefined]
  const made: Change[] = []
  const makers = new Set<Change>()
  const from = [-Infinity]

  const seersOf = (version: number): readonly Operation[] => seers.get(version) ?? []
  const seenFrom = (version: number): number => from[version] ?? -Infinity

  /** Before this moment the next version cannot have been made. */
  const seenUntil = (version: number): number =>
    seersOf(version).reduce((last, seer) => Math.max(last, seer.invokedAt), seenFrom(version))

  function faultsAtEnd(): string[] {
    const end = versions.length - 1
    return seersOf(end).flatMap((seer) =>
      isTrue(versions, seer)
        ? late(`seeing version ${end}`, seer, seenFrom(end))
        : [`version ${end} was not as a ${seer.kind} saw it`],
    )
  }

  return {
    versions,
    makers,
    seenFrom,
    faultsAtEnd,
    lay(maker) {
      const version = versions.length
      const notBefore = seenUntil(version - 1)
      const isSound = isTrue(versions, maker)
      versions.push(madeIn(answerTo(versions, maker)))
      made.push(maker)
      makers.add(maker)
      from.push(Math.max(notBefore, maker.invokedAt))
      if (!isSound)
        return [`version ${version} was answered to a ${maker.kind} that cannot make it`]
      return [...late(`making version ${version}`, maker, notBefore), ...faultsAtEnd()]
    },
    backTo(version) {
      for (const maker of made.splice(version)) makers.delete(maker)
      versions.length = version + 1
      from.length = version + 1
    },
  }
}
