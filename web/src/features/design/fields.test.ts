import type { FocusEvent, FormEvent } from "react";
import { equals, type Tests } from "../../base/testing";
import { ownTyping } from "./fields";

class Input {
	value = "";
}

const tests: Tests = {
	"a field undoes its own typing, and not what became an act"() {
		Object.assign(globalThis, { HTMLInputElement: Input, HTMLTextAreaElement: class {} });
		const own = ownTyping();
		const [search, colour] = [new Input(), new Input()];
		const isIn = (input: Input) => own.isIn(input as unknown as EventTarget);
		const focus = (target: object) => own.onFocus({ target } as FocusEvent);
		const type = (target: Input, value: string) => {
			target.value = value;
			own.onInput({ target } as unknown as FormEvent);
		};
		focus(search);
		equals(isIn(search), false, "nothing is typed");
		type(search, "but");
		equals([isIn(search), isIn(colour)], [true, false]);
		type(search, "");
		equals(isIn(search), false, "all of it is undone");
		type(search, "button");
		search.value = "";
		equals(isIn(search), false, "it was added");

		focus(colour);
		type(colour, "red");
		own.taken();
		equals(isIn(colour), false, "it is a step of the history");
		colour.value = "";
		equals(isIn(colour), false, "that was undone, and the next one is meant");
		type(colour, "{%");
		equals(isIn(colour), true, "what could not be applied");
		focus({});
		equals(isIn(colour), false, "the focus is elsewhere");
	},
};

export default tests;
