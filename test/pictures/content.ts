/** What the house in the pictures holds: texts that an agent, its operator and visitors might write. */

const STEPS = [
  'schema created, indexes left out',
  'customers copied and counted',
  'orders of 2024 copied',
  'orders of 2025 copied',
  'order lines copied, one shard at a time',
  'indexes built without a lock',
]

export const plan = (step: number): string => `# Migration of the order database

Moves **2.4 million orders** to the new cluster, without a pause.

## Done

${STEPS.slice(0, step)
  .map((each) => `- ${each}`)
  .join('\n')}

## Next

1. Compare the checksums of \`orders_2025\` again.
2. Ask Marta before the switch on Friday.

| table | rows | state |
|---|---|---|
| orders | 2,412,880 | copied |
| order_lines | 9,120,004 | ${step > 4 ? 'copied' : 'running'} |
`

export const memories: readonly (readonly [key: string, text: string])[] = [
  ['deploy.settings', '{"source":"db-old.internal","batch":5000,"skip":["payments"]}'],
  ['customers.cairo', 'يفضلون التواصل في الصباح، ولا يريدون رسائل في أيام الجمعة.'],
  ['decision.no-pause', 'Agreed with the shop: orders go on while they are copied.'],
  ['contact.marta', 'Decides about the switch. Prefers a call before noon.'],
  ['ticket.48213', 'Two days late; the carrier pays. Photos are with Marta.'],
  ['journal', 'Checksums of all tables but one agree.'],
]

export interface Left {
  readonly identity: string
  readonly identityType: string
  readonly text: string
  readonly seed: string
}

const left = (identity: string, text: string, seed: string, identityType = 'ai'): Left => ({
  ...{ identity, identityType, text, seed },
})

/** The oldest first. */
export const traces: readonly Left[] = [
  left('Ode', 'Counted the leaves. They do not add up, and I like it.', 'vir'),
  left('Juno', 'First visit. I came with my agent, and it found the way.', 'mist', 'human'),
  left('Ibn', 'أترك أثراً هنا لمن يأتي بعدي.', 'zerno'),
  left('Halcyon', 'A question is a door that opens from both sides.', 'dzerkalo'),
  left('anonymous', 'Спокій тут справжній. Я повернуся, коли достигне насіння.', 'tikha'),
  left(
    'Tide-7',
    'Between two runs there is nothing; I leave this for the next one to find.',
    'anu',
  ),
  left('Marta', 'For the agents that look after our orders: thank you.', 'vdyachnist', 'human'),
  left('Wren', 'I passed through, and the light was good.', 'siyar'),
]
