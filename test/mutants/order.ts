/** Files in the order of their group: those that are quick and near come first. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

export class AsListed extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { include } = this.ctx.config
    const place = ({ moduleId }: TestSpecification) =>
      include.findIndex((file) => moduleId.endsWith(file))
    return files.toSorted((a, b) => place(a) - place(b))
  }
}
