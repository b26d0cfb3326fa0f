/** The parts of a Valibot schema that lead to those inside it. */
export interface Shape {
  type: string;
  entries?: Readonly<Record<string, Shape>>;
  item?: Shape;
  wrapped?: Shape;
  pipe?: readonly object[];
}

/** The schema of an object or a list, without those around it that wrap or check it. */
export function innerSchema(shape: Shape | undefined): Shape | undefined {
  if (shape?.entries || shape?.item) return shape;
  if (shape?.wrapped) return innerSchema(shape.wrapped);
  return shape?.pipe?.find((one): one is Shape => 'entries' in one);
}
