import { Smile } from "lucide-react";
import { Popup } from "../../ui/Popup";
import { catalogue } from "../../base/words/catalogue";
import css from "./Composer.module.css";

const words = catalogue("broadcasts.emoji", {
	add: "Add emoji",
	addTo: "Add emoji to {field}",
});

const emoji: [string, string][] = [
	["😀", "grinning face"],
	["😍", "heart eyes"],
	["😎", "sunglasses"],
	["🤔", "thinking"],
	["👋", "waving hand"],
	["👍", "thumbs up"],
	["🙏", "folded hands"],
	["💪", "strong arm"],
	["❤️", "red heart"],
	["🎉", "party"],
	["🎁", "present"],
	["⭐", "star"],
	["🔥", "fire"],
	["✨", "sparkles"],
	["☀️", "sun"],
	["🌷", "tulip"],
	["🍂", "leaves"],
	["❄️", "snowflake"],
	["📚", "books"],
	["🗓️", "calendar"],
	["⏰", "alarm clock"],
	["📦", "parcel"],
	["💡", "light bulb"],
	["✅", "check mark"],
];

/** EmojiMenu adds an emoji to the end of a field. */
export function EmojiMenu({ field, onChoose }: { field: string; onChoose: (emoji: string) => void }) {
	return (
		<Popup label={words.add} buttonLabel={words.addTo({ field })} button={<Smile aria-hidden size={14} />} end>
			{(close) => (
				<ul className={css.emoji}>
					{emoji.map(([emoji, name]) => (
						<li key={emoji}>
							<button
								type="button"
								aria-label={name}
								title={name}
								onClick={() => {
									onChoose(emoji);
									close();
								}}
							>
								{emoji}
							</button>
						</li>
					))}
				</ul>
			)}
		</Popup>
	);
}
