/** How a file becomes, and changes: by the home's compare-and-swap, so that no edit is lost. */
import { VersionConflict } from '../errors.ts'
import { contentOf, textIn, tooLarge } from './contents.ts'
import type { Files } from './files.ts'
import { keyOf, metadataOf } from './keys.ts'
import type { Place } from './places.ts'
import { missing, numbered } from './view.ts'

const CONTEXT_LINES = 2

export async function create(files: Files, place: Place, text: string): Promise<void> {
  const { path, names } = place
  await files.requireParents(place)
  if (await files.isDirectory(names)) throw new Error(`File ${path} already exists`)
  const key = await keyOf(names)
  const content = contentOf(text, metadataOf(key, names, {}))
  const { metadata } = content
  await files.home.write(key, content.text, { metadata, expectedVersion: 0 }).catch((error) => {
    if (error instanceof VersionConflict) throw new Error(`File ${path} already exists`)
    throw tooLarge(path, error)
  })
}

/** `change` is asked again, with the text that is there by then, when somebody else was quicker. */
async function edit(
  files: Files,
  { path, names }: Place,
  change: (text: string) => string,
): Promise<void> {
  const noFile = async () =>
    (await files.isDirectory(names)) ? new Error(`The path ${path} is not a file.`) : missing(path)
  if (names.length === 0) throw await noFile()
  const changed = files.home.update(await keyOf(names), async (current) => {
    if (!current) throw await noFile()
    return contentOf(change(textIn(current)), current.metadata)
  })
  await changed.catch((error) => {
    throw tooLarge(path, error)
  })
}

interface Occurrence {
  readonly at: number
  /** From 1: where it begins. */
  readonly line: number
}

function occurrencesOf(text: string, sought: string): Occurrence[] {
  const found: Occurrence[] = []
  let line = 1
  let counted = 0
  for (let at = text.indexOf(sought); at !== -1; at = text.indexOf(sought, at + 1)) {
    line += text.slice(counted, at).split('\n').length - 1
    counted = at
    found.push({ at, line })
    // An empty text would be found at the end for ever.
    if (at === text.length) break
  }
  return found
}

/** The one that there is; throws what the model is told of none, or of several. */
function onlyOneOf(text: string, sought: string, path: string): Occurrence {
  const [found, ...others] = occurrencesOf(text, sought)
  if (!found) {
    throw new Error(
      `No replacement was performed, old_str \`${sought}\` did not appear verbatim in ${path}.`,
    )
  }
  if (others.length === 0) return found
  const lines = new Set([found, ...others].map(({ line }) => line))
  throw new Error(
    `No replacement was performed. Multiple occurrences of old_str \`${sought}\` in lines: ${[...lines].join(', ')}. Please ensure it is unique`,
  )
}

function snippetOf(text: string, line: number): string {
  const start = Math.max(0, line - 1 - CONTEXT_LINES)
  return numbered(text.split('\n').slice(start, line + CONTEXT_LINES), start + 1)
}

/** Gives the lines around the change. */
export async function replace(
  files: Files,
  place: Place,
  { old_str, new_str = '' }: { readonly old_str: string; readonly new_str?: string },
): Promise<string> {
  let snippet = ''
  await edit(files, place, (text) => {
    const { at, line } = onlyOneOf(text, old_str, place.path)
    const changed = text.slice(0, at) + new_str + text.slice(at + old_str.length)
    snippet = snippetOf(changed, line)
    return changed
  })
  return snippet
}

export const insert = (files: Files, place: Place, line: number, added: string): Promise<void> =>
  edit(files, place, (text) => {
    const lines = text.split('\n')
    if (line < 0 || line > lines.length) {
      throw new Error(
        `Invalid \`insert_line\` parameter: ${line}. It should be within the range of lines of the file: [0, ${lines.length}]`,
      )
    }
    return lines.toSpliced(line, 0, added.replace(/\n$/, '')).join('\n')
  })
