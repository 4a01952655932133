/** Finds the first thing in a value that is not as it must be: its path from there (`.author.name`), "" for the value itself. */
export type Shape = (value: unknown) => string | undefined;

const only =
  (isRight: (value: unknown) => boolean): Shape =>
  (value) =>
    isRight(value) ? undefined : "";

export const text = only((value) => typeof value === "string");
export const name = only((value) => typeof value === "string" && value !== "");
export const count = only((value) => Number.isSafeInteger(value) && (value as number) >= 0);
export const oneOf = (...values: readonly unknown[]): Shape => only((value) => values.includes(value));

export function optional(shape: Shape): Shape {
  return (value) => (value === undefined ? undefined : shape(value));
}

/** For texts and lists: no longer than `limit`. */
export function atMost(limit: number, shape: Shape): Shape {
  return (value) => shape(value) ?? ((value as { readonly length: number }).length > limit ? "" : undefined);
}

export function list(item: Shape): Shape {
  return (value) => {
    if (!Array.isArray(value)) return "";
    for (const [index, each] of value.entries()) {
      const wrong = item(each);
      if (wrong !== undefined) return `[${index}]${wrong}`;
    }
    return undefined;
  };
}

/** Further fields are right: a newer program of the same format may have added them. */
export function object(fields: Readonly<Record<string, Shape>>): Shape {
  const shapes = Object.entries(fields);
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return "";
    for (const [field, shape] of shapes) {
      const wrong = shape((value as Readonly<Record<string, unknown>>)[field]);
      if (wrong !== undefined) return `.${field}${wrong}`;
    }
    return undefined;
  };
}
