"""Transforms of PIL images and Tensors, random ones by seed. (Arrays need OpenCV, which it lacked.)"""

_SETUP = """
import random
from PIL import Image
T = paddle.vision.transforms
random.seed(7); np.random.seed(7)
wave = (np.arange(6 * 8 * 3).reshape(6, 8, 3) * 37 % 251).astype('uint8')
rgb = Image.fromarray(wave)
smooth = np.add.outer(np.arange(6) * 17, np.arange(8) * 12).astype('uint8')
grey = Image.fromarray(smooth)
photo = Image.fromarray(np.stack([smooth, 255 - smooth, smooth // 2 + 60], 2))
tensor = t([3, 6, 8]) / 2 + 0.5
byte_tensor = paddle.to_tensor(wave.transpose(2, 0, 1))
corners = [[0, 0], [7, 0], [7, 5], [0, 5]]
places = [[0.3, 0.2], [6.6, 0.4], [6.1, 4.3], [0.4, 4.7]]
seen = lambda x: np.asarray(x) if isinstance(x, Image.Image) else x
"""


def _of(code: str) -> str:
    return f"{_SETUP}seen({code})"


def _twice(transform: str, picture: str) -> str:
    return f"{_SETUP}f = {transform}\n[seen(f({picture})), seen(f({picture}))]"


_FUNCTIONS = {
    "to_tensor": "T.to_tensor({}, 'HWC')",
    "hflip": "T.hflip({})",
    "vflip": "T.vflip({})",
    "crop": "T.crop({}, 1, 2, 3, 5)",
    "center_crop": "T.center_crop({}, 4)",
    "center_crop/pair": "T.center_crop({}, (4, 7))",
    "pad": "T.pad({}, 2)",
    "pad/pair": "T.pad({}, (1, 2))",
    "pad/four": "T.pad({}, [1, 2, 3, 4], fill=0)",
    "pad/edge": "T.pad({}, (3, 1), padding_mode='edge')",
    "pad/reflect": "T.pad({}, 2, padding_mode='reflect')",
    "to_grayscale": "T.to_grayscale({})",
    "to_grayscale/3": "T.to_grayscale({}, 3)",
    "adjust_brightness": "T.adjust_brightness({}, 0.4)",
    "adjust_brightness/more": "T.adjust_brightness({}, 1.7)",
    "adjust_contrast": "T.adjust_contrast({}, 0.4)",
    "adjust_contrast/more": "T.adjust_contrast({}, 1.7)",
    "adjust_saturation": "T.functional.adjust_saturation({}, 0.4)",
    "adjust_saturation/more": "T.functional.adjust_saturation({}, 1.7)",
    "adjust_hue": "T.adjust_hue({}, 0.2)",
    "adjust_hue/back": "T.adjust_hue({}, -0.4)",
    "affine": "T.affine({}, 30, (1, -2), 1.2, (10, 5))",
    "affine/center": "T.affine({}, -60.0, [0, 0], 0.7, 0, center=[2, 3])",
    "affine/bilinear": "T.affine({}, 30, (1, -2), 1.2, (10, 5), interpolation='bilinear')",
    "rotate": "T.rotate({}, 40)",
    "rotate/right angle": "T.rotate({}, 90, expand=True)",
    "rotate/expand": "T.rotate({}, 33, expand=True)",
    "rotate/center": "T.rotate({}, -20, center=(2, 3))",
    "rotate/bilinear": "T.rotate({}, 40, 'bilinear')",
    "perspective": "T.perspective({}, corners, places)",
    "perspective/bilinear": "T.perspective({}, corners, places, 'bilinear')",
}
_PIL_ONLY = {
    "resize": "T.resize({}, 4)",
    "resize/pair": "T.resize({}, (3, 11))",
    "resize/nearest": "T.resize({}, (11, 5), 'nearest')",
    "resize/bicubic": "T.resize({}, (11, 5), 'bicubic')",
    "pad/symmetric": "T.pad({}, 2, padding_mode='symmetric')",
    "pad/colour": "T.pad({}, 1, fill=(9, 8, 7))",
    "erase": "T.erase({}, 1, 2, 3, 4, np.full([3, 4, 3], 9, 'uint8'))",
}
_GREY = ("hflip", "vflip", "crop", "center_crop", "pad", "pad/edge", "to_grayscale", "adjust_brightness",
         "adjust_contrast", "adjust_hue")
_RANDOM = {
    "RandomHorizontalFlip": "T.RandomHorizontalFlip(0.5)",
    "RandomVerticalFlip": "T.RandomVerticalFlip()",
    "RandomCrop": "T.RandomCrop(4)",
    "RandomCrop/padding": "T.RandomCrop((7, 5), padding=2)",
    "RandomCrop/pad_if_needed": "T.RandomCrop(9, pad_if_needed=True, fill=0)",
    "RandomResizedCrop": "T.RandomResizedCrop(6)",
    "RandomResizedCrop/narrow": "T.RandomResizedCrop((5, 7), scale=(0.9, 1.0), ratio=(3.0, 4.0))",
    "RandomRotation": "T.RandomRotation(30)",
    "RandomRotation/between": "T.RandomRotation([10, 20], expand=True)",
    "RandomAffine": "T.RandomAffine(15, translate=[0.2, 0.1], scale=[0.8, 1.1], shear=[-5, 5, -3, 3])",
    "RandomAffine/shear along x": "T.RandomAffine([0, 0], shear=10)",
    # With the seed of the others a pixel lies exactly between two, and the processor's rounding chooses.
    "RandomPerspective": "(random.seed(9), T.RandomPerspective(prob=0.9, distortion_scale=0.4))[1]",
    "RandomErasing": "T.RandomErasing(prob=0.9, value=7)",
    "RandomErasing/noise": "T.RandomErasing(prob=1.0, value='random')",
    "RandomErasing/colour": "T.RandomErasing(prob=1.0, value=[1, 2, 3])",
    "BrightnessTransform": "T.BrightnessTransform(0.4)",
    "ContrastTransform": "T.ContrastTransform(0.4)",
    "SaturationTransform": "T.SaturationTransform((0.2, 0.6))",
    "HueTransform": "T.HueTransform(0.4)",
    "ColorJitter": "T.ColorJitter(0.4, 0.4, 0.4, 0.2)",
}
_TENSOR_RANDOM = ("RandomHorizontalFlip", "RandomVerticalFlip", "RandomCrop", "RandomErasing",
                  "RandomErasing/colour", "BrightnessTransform", "SaturationTransform")

CALLS: dict[str, str] = {
    **{f"{name}, PIL": _of(code.format("rgb")) for name, code in _FUNCTIONS.items()},
    **{f"{name}, photo": _of(code.format("photo")) for name, code in _FUNCTIONS.items() if "adjust" in name},
    **{f"{name}, PIL": _of(code.format("rgb")) for name, code in _PIL_ONLY.items()},
    **{f"{name}, grey": _of(_FUNCTIONS[name].format("grey")) for name in _GREY},
    **{f"{name}, Tensor": _of(code.format("tensor")) for name, code in _FUNCTIONS.items()},
    "crop, Tensor of bytes": _of(_FUNCTIONS["crop"].format("byte_tensor")),
    "normalize/PIL": _of("T.normalize(rgb, [0.5, 0.4, 0.3], [0.5, 0.6, 0.7], 'HWC')"),
    "normalize/Tensor": _of("T.normalize(tensor, [0.5, 0.4, 0.3], [0.5, 0.6, 0.7])"),
    **{f"{name}, PIL": _twice(code, "rgb") for name, code in _RANDOM.items()},
    **{f"{name}, Tensor": _twice(_RANDOM[name], "tensor") for name in _TENSOR_RANDOM},
    "resize/Tensor": _of("T.resize(tensor, (5, 6))"),
    "resize/Tensor, shorter side": _of("T.resize(tensor, 4, 'nearest')"),
    "erase/Tensor": _of("T.erase(tensor, 1, 2, 3, 4, paddle.zeros([3, 1, 1]))"),
    "to_tensor/grey": _of("T.to_tensor(grey)"),
    "to_tensor/floats": _of("T.to_tensor(wave.astype('float64'))"),
    "to_tensor/array": _of("T.to_tensor(wave)"),
    "to_tensor/bits": _of("T.to_tensor(grey.point(lambda v: v > 60, '1'))"),
    "to_tensor/32 bits": _of("T.to_tensor(grey.convert('I'))"),
    "normalize/array": _of("T.normalize(wave.astype('float32'), [1, 2, 3], [4, 5, 6], 'HWC')"),
    "normalize/array to RGB": _of("T.normalize(wave.astype('float32'), [1, 2, 3], [4, 5, 6], 'HWC', True)"),
    "crop/array": _of("T.crop(wave, 1, 2, 3, 5)"),
    "center_crop/array": _of("T.center_crop(wave, (4, 7))"),
    "erase/array": _of("T.erase(wave, 1, 2, 3, 4, np.full([3, 4, 3], 9, 'uint8'))"),
    "Transpose": _of("T.Transpose()(wave)"),
    "Transpose/PIL": _of("T.Transpose((1, 0, 2))(rgb)"),
    "Resize": _of("T.Resize(4)(rgb)"),
    "CenterCrop": _of("T.CenterCrop((4, 7))(rgb)"),
    "Pad": _of("T.Pad([1, 2, 3, 4], fill=[9, 8, 7])(rgb)"),
    "Grayscale": _of("T.Grayscale(3)(rgb)"),
    "Normalize": _of("T.Normalize(0.5, 2.0)(tensor)"),
    "ToTensor": _of("T.ToTensor()(rgb)"),
    "Compose": _of("T.Compose([T.Resize(4), T.ToTensor(), T.Normalize(0.5, 2.0)])(rgb)"),
    "Compose/text": _SETUP + "len(repr(T.Compose([1, 'two'])))",
    "Compose/printed": _SETUP + "str(T.Compose([1, 'two']))",
    "keys": _SETUP + "f = T.CenterCrop(4, keys=('image',))\n[seen(x) for x in f((rgb, 5))]",
    "get_image_backend": "paddle.vision.get_image_backend()",
    "raises/set_image_backend": "paddle.vision.set_image_backend('torch')",
    "raises/adjust_hue": _of("T.adjust_hue(rgb, 0.6)"),
    "raises/pad with three": _of("T.pad(rgb, (1, 2, 3))"),
    "raises/pad in no mode": _of("T.pad(rgb, 1, padding_mode='wrap')"),
    "raises/to_grayscale": _of("T.to_grayscale(rgb, 2)"),
    "raises/resize": _of("T.resize(rgb, (1, 2, 3))"),
    "raises/to_tensor of a list": _of("T.to_tensor([1])"),
    "raises/affine angle": _of("T.affine(rgb, 'x', (0, 0), 1, 0)"),
    "raises/affine scale": _of("T.affine(rgb, 0, (0, 0), 0, 0)"),
    "raises/RandomRotation": _of("T.RandomRotation(-1)"),
    "raises/RandomAffine": _of("T.RandomAffine(1, translate=[2, 0])"),
    "raises/RandomErasing": _of("T.RandomErasing(value='noise')"),
    "raises/BrightnessTransform": _of("T.BrightnessTransform(-1)"),
    "raises/HueTransform": _of("T.HueTransform((0.1, 0.7))"),
    "raises/SaturationTransform": _of("T.SaturationTransform('much')"),
}
